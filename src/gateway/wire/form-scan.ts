import { namedPart } from './form.ts'

const longestHead = 8192
const longestValue = 1024

/** A field of a form that goes through. */
export interface ScannedField {
  readonly name: string
  readonly text: string
  /** The place in the body where its text begins. */
  readonly start: number
  readonly end: number
}

/** Returns a scan of a form, piece by piece, which reports each field of these names when it has come whole. Each byte is looked at once. */
export function createFormScan(
  delimiter: string,
  { names, tell }: { readonly names: ReadonlySet<string>; readonly tell: (field: ScannedField) => void },
): (chunk: Buffer) => void {
  const marker = Buffer.from(`\r\n${delimiter}`)
  // As if the first delimiter stood behind a line, as all others do.
  let rest = Buffer.from('\r\n')
  let base = -rest.length
  let within: keyof typeof steps = 'content'
  let name = ''

  /** The next piece to read, and where it begins; null: more has to come, from that place on. */
  interface Step {
    readonly at: number
    readonly within: keyof typeof steps | null
  }

  const steps = {
    content(bytes: Buffer, at: number): Step {
      const next = bytes.indexOf(marker, at)
      return next === -1
        ? { at: Math.max(at, bytes.length - marker.length + 1), within: null }
        : { at: next + marker.length, within: 'head' }
    },
    head(bytes: Buffer, at: number): Step {
      const end = bytes.indexOf('\r\n\r\n', at)
      if (end === -1 || end - at > longestHead) return bytes.length - at > longestHead ? { at, within: 'content' } : { at, within: null }
      const named = namedPart(bytes.toString('utf8', at, end).split('\r\n').slice(1))
      name = named?.name ?? ''
      return { at: end + 4, within: named?.isFile === false && names.has(name) ? 'value' : 'content' }
    },
    value(bytes: Buffer, at: number): Step {
      const end = bytes.indexOf(marker, at)
      if (end === -1) return bytes.length - at > longestValue ? { at, within: 'content' } : { at, within: null }
      tell({ name, text: bytes.toString('utf8', at, end), start: base + at, end: base + end })
      return { at: end, within: 'content' }
    },
  }

  return (chunk) => {
    const bytes = Buffer.concat([rest, chunk])
    let step = steps[within](bytes, 0)
    while (step.within !== null) step = steps[(within = step.within)](bytes, step.at)
    rest = bytes.subarray(step.at)
    base += step.at
  }
}
