import { namedPart } from './form.ts'

const longestHead = 8192
const endOfHead = Buffer.from('\r\n\r\n')
const longestValue = 1024

/** A field of a form, found while the form is streamed to the provider. */
export interface ScannedField {
  readonly name: string
  readonly text: string
  /** The place in the body where its text begins. */
  readonly start: number
  readonly end: number
}

/** Gets the bytes of a file as they come. */
export type FileTaker = (piece: Buffer) => void

export interface FormListener {
  /** The reported fields. */
  readonly names: ReadonlySet<string>
  readonly tell: (field: ScannedField) => void
  /** Returns the taker of the bytes of a file that begins; null: they are dropped. */
  readonly file?: (name: string, filename: string) => FileTaker | null
  /** Gets the head of a part that readers understand differently, and the name of a reported field that is too long. */
  readonly unclear?: (head: string) => void
}

/** Returns a scan of a form, piece by piece, which reports each field of these names when it has come whole. Each byte is looked at a few times at most. */
export function createFormScan(delimiter: string, { names, tell, file, unclear }: FormListener): (chunk: Buffer) => void {
  const marker = Buffer.from(`\r\n${delimiter}`)
  // As if the first delimiter stood behind a line, as all others do.
  let rest = Buffer.from('\r\n')
  let base = -rest.length
  let within: keyof typeof steps = 'content'
  let name = ''
  let taker: FileTaker | null = null

  /** The next piece to read, and where it begins; null: more has to come, from that place on. */
  interface Step {
    readonly at: number
    readonly within: keyof typeof steps | null
  }

  /** Begins a part by its head, and returns what follows. */
  function begin(head: string): 'value' | 'content' {
    const named = namedPart(head.split('\r\n').slice(1))
    name = named?.name ?? ''
    if (named === null) unclear?.(head)
    else if (named.isFile) taker = file?.(name, named.filename) ?? null
    return named?.isFile === false && names.has(name) ? 'value' : 'content'
  }

  const steps = {
    content(bytes: Buffer, at: number): Step {
      const next = bytes.indexOf(marker, at)
      const upTo = next === -1 ? Math.max(at, bytes.length - marker.length + 1) : next
      if (taker !== null && upTo > at) taker(bytes.subarray(at, upTo))
      return next === -1 ? { at: upTo, within: null } : { at: next + marker.length, within: 'head' }
    },
    head(bytes: Buffer, at: number): Step {
      const window = bytes.subarray(at, at + longestHead + endOfHead.length)
      const length = window.indexOf(endOfHead)
      taker = null
      if (length !== -1) return { at: at + length + endOfHead.length, within: begin(window.toString('utf8', 0, length)) }
      if (bytes.length - at <= longestHead) return { at, within: null }
      unclear?.(window.toString('latin1', 0, longestHead))
      // No head ends here. The last delimiter may begin one that ends behind: to look at each would take the square of their number.
      const last = window.lastIndexOf(marker)
      return { at: last >= 0 ? at + last : at + longestHead, within: 'content' }
    },
    value(bytes: Buffer, at: number): Step {
      const length = bytes.subarray(at, at + longestValue + marker.length).indexOf(marker)
      if (length === -1) {
        if (bytes.length - at <= longestValue) return { at, within: null }
        unclear?.(name)
        return { at, within: 'content' }
      }
      const end = at + length
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
