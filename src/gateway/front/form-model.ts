import type { Readable } from 'node:stream'
import { paceOf } from '../../lib/shares/pace.ts'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { modelReference } from '../targets/addressing.ts'
import { clientGone } from '../wire/collect.ts'
import { delimiterOf } from '../wire/form.ts'
import { createFormScan, type ScannedField } from '../wire/form-scan.ts'

/** Files may stand before the model; more than providers take of audio and images is not held for it. */
const mostHeld = 32 * 1024 * 1024
const fieldOfModel: ReadonlySet<string> = new Set(['model'])

/** The model that a form names, as it came, and by how many bytes the form became shorter. */
export interface FormModel {
  readonly model: string | null
  readonly shortenedBy: number
}

/** A form that has not been read. */
export const noFormModel: FormModel = { model: null, shortenedBy: 0 }

/**
 * Reads a form up to its field `model`. When that is `@slug/model` the slug is taken out of it; the bytes that were read are put back, so that the
 * form goes on as it came, with that one difference. A form without the field is read to its end, and is lost. Throws `payload_too_large`,
 * `client_closed`.
 */
export function takeModelOfForm(body: Readable, contentType: string, owner: string): Promise<FormModel> {
  const delimiter = delimiterOf(contentType)
  if (delimiter === null) return Promise.resolve(noFormModel)
  if (body.destroyed) return Promise.reject(clientGone())
  return new Promise((resolve, reject) => {
    const held = new ByteList()
    const pace = paceOf(owner, body)
    let found: ScannedField | null = null
    const scan = createFormScan(delimiter, { names: fieldOfModel, tell: (field) => (found ??= field) })
    const settle = (how: () => void) => {
      pace.end()
      body.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      how()
    }
    const onData = (chunk: Buffer) => {
      held.push(chunk)
      scan(chunk)
      if (found !== null) {
        const named = found
        settle(() => resolve(giveBack(body, held.join(), named)))
      } else if (held.size > mostHeld) settle(() => reject(tooLong()))
      else pace.took(chunk.length)
    }
    const onEnd = () => settle(() => resolve(noFormModel))
    const onGone = () => settle(() => reject(clientGone()))
    body.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
    // One that looked before whose upload it is has paused it.
    body.resume()
  })
}

const tooLong = () =>
  new ApiError(
    'payload_too_large',
    `The form names no model in its first ${mostHeld} bytes. Name the provider in x-service-provider, and it goes through as it comes.`,
    { param: 'model' },
  )

function giveBack(body: Readable, bytes: Buffer, { text, start, end }: ScannedField): FormModel {
  const plain = modelReference(text)?.model ?? text
  body.pause()
  body.unshift(plain === text ? bytes : Buffer.concat([bytes.subarray(0, start), Buffer.from(plain), bytes.subarray(end)]))
  return { model: text, shortenedBy: Buffer.byteLength(text) - Buffer.byteLength(plain) }
}
