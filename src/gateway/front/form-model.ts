import type { Readable } from 'node:stream'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { modelReference } from '../targets/addressing.ts'
import { clientGone } from '../wire/body.ts'
import { delimiterOf, namedPart } from '../wire/form.ts'

/** Files may stand before the model; more than providers take of audio and images is not held for it. */
const mostHeld = 32 * 1024 * 1024
const longestHead = 8192
const longestModel = 1024

/** The model that a form names, as it came, and by how many bytes the form became shorter. */
export interface FormModel {
  readonly model: string | null
  readonly shortenedBy: number
}

/** A form that nobody has looked into. */
export const noFormModel: FormModel = { model: null, shortenedBy: 0 }

/**
 * Reads a form up to its field `model`. When that says `@slug/model` the slug is taken out of it; all that was read is put back, so that
 * the form goes on as it came, with that one difference. A form without the field is read to its end, and is lost. Throws
 * `payload_too_large`, `client_closed`.
 */
export function takeModelOfForm(body: Readable, contentType: string): Promise<FormModel> {
  const delimiter = delimiterOf(contentType)
  if (delimiter === null) return Promise.resolve(noFormModel)
  if (body.destroyed) return Promise.reject(clientGone())
  return new Promise((resolve, reject) => {
    const held = new ByteList()
    const scan = createScan(delimiter)
    const settle = (how: () => void) => {
      body.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      how()
    }
    const onData = (chunk: Buffer) => {
      held.push(chunk)
      const found = scan(chunk)
      if (found !== null) settle(() => resolve(giveBack(body, held.join(), found)))
      else if (held.size > mostHeld) settle(() => reject(tooLong()))
    }
    const onEnd = () => settle(() => resolve(noFormModel))
    const onGone = () => settle(() => reject(clientGone()))
    body.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

const tooLong = () =>
  new ApiError(
    'payload_too_large',
    `The form names no model in its first ${mostHeld} bytes. Name the provider in x-service-provider, and it goes through as it comes.`,
    { param: 'model' },
  )

interface Found {
  readonly text: string
  /** The place in the body where it begins. */
  readonly start: number
  readonly end: number
}

function giveBack(body: Readable, bytes: Buffer, { text, start, end }: Found): FormModel {
  const plain = modelReference(text)?.model ?? text
  body.pause()
  body.unshift(plain === text ? bytes : Buffer.concat([bytes.subarray(0, start), Buffer.from(plain), bytes.subarray(end)]))
  return { model: text, shortenedBy: Buffer.byteLength(text) - Buffer.byteLength(plain) }
}

/** Looks through a form, piece by piece, and gives the field `model` when it has come whole. Each byte is looked at once. */
function createScan(delimiter: string): (chunk: Buffer) => Found | null {
  const marker = Buffer.from(`\r\n${delimiter}`)
  // As if the first delimiter stood behind a line, as all others do.
  let rest = Buffer.from('\r\n')
  let base = -rest.length
  let within: keyof typeof steps = 'content'

  /** The next piece to read, and where it begins; null: more has to come, from that place on. */
  interface Step {
    readonly at: number
    readonly within: keyof typeof steps | null
    readonly found?: Found
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
      return { at: end + 4, within: named?.name === 'model' && !named.isFile ? 'value' : 'content' }
    },
    value(bytes: Buffer, at: number): Step {
      const end = bytes.indexOf(marker, at)
      if (end === -1) return bytes.length - at > longestModel ? { at, within: 'content' } : { at, within: null }
      return { at: end, within: null, found: { text: bytes.toString('utf8', at, end), start: base + at, end: base + end } }
    },
  }

  return (chunk) => {
    const bytes = Buffer.concat([rest, chunk])
    let step = steps[within](bytes, 0)
    while (step.within !== null) step = steps[(within = step.within)](bytes, step.at)
    rest = bytes.subarray(step.at)
    base += step.at
    return step.found ?? null
  }
}
