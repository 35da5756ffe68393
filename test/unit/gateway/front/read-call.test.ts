import test from 'ava'
import { mustBeRead } from '../../../../src/gateway/front/read-call.ts'
import type { Operation } from '../../../../src/gateway/operations/operations.ts'
import { ofOperations } from '../../../../src/gateway/operations/work.ts'

type Form = Parameters<typeof mustBeRead>[0]

const form = (operation: Operation, length: string | undefined, contentType = 'multipart/form-data; boundary=b') =>
  ({
    work: ofOperations.get(operation) ?? null,
    headers: { contentType, contentEncoding: '' },
    exchange: { header: () => length },
  }) as unknown as Form

/** Forms under a limit in money, and whether their fields must be read before they go on. */
const forms: Readonly<Record<string, readonly [form: Form, model: string | null, isRead: boolean]>> = {
  'a recording whose model is known': [form('createTranscription', '9'), 'whisper-1', false],
  'a recording whose model nobody has told': [form('createTranscription', '9'), null, true],
  'a recording of a length that nobody has told': [form('createTranscription', undefined), 'whisper-1', true],
  'an edit of an image, which says how many it wants': [form('imageEdit', '9'), 'gpt-image-1', true],
  'a recording that is no form': [form('createTranscription', '9', 'audio/mpeg'), null, false],
}
for (const [name, [asked, model, isRead]] of Object.entries(forms))
  test(`a form is held to be read for a limit in money: ${name}`, (t) => {
    t.is(mustBeRead(asked, { model }), isRead)
  })
