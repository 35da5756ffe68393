import { ApiError } from '../../lib/errors.ts'
import { Capture } from './capture.ts'
import { delimiterOf } from './form.ts'
import { createFormScan, type FileTaker } from './form-scan.ts'

/** The parts of a form that decide the cost of its answer, as far as they have come. */
export interface WatchedForm {
  /** Null: it names none. */
  readonly model: string | null
  /** Null: there are more than are looked at, the form cannot be read, or the provider fetches one itself. */
  readonly files: readonly WatchedFile[] | null
}

/** A file: its ends, and the length of the whole. */
export interface WatchedFile {
  readonly name: string
  readonly head: Buffer
  readonly tail: Buffer
  readonly size: number
}

/** Containers of sound state their length within so many bytes of their beginning, or of their end. */
const watchedBytes = 128 * 1024
/** Providers read one recording. */
const mostFiles = 4
/** The fields by which a provider fetches a recording itself: Groq, Mistral, ElevenLabs, Gladia. */
export const fetchedFields: ReadonlySet<string> = new Set([
  'url',
  'audio_url',
  'file_url',
  'file_uri',
  'file_id',
  'source_url',
  'cloud_storage_url',
])
const watchedFields: ReadonlySet<string> = new Set(['model', ...fetchedFields])

/** Looks at a form as it passes. A class, because it keeps its place between pieces. */
export class FormWatch {
  readonly #scan: (chunk: Buffer) => void
  readonly #files: { readonly name: string; readonly capture: Capture }[] = []
  #model: string | null = null
  #isClear = true

  constructor(delimiter: string) {
    this.#scan = createFormScan(delimiter, {
      names: watchedFields,
      tell: ({ name, text }) => (name === 'model' ? this.#named(text) : this.#fetched(text)),
      file: (name) => this.#file(name),
      unclear: (head) => this.#unclear(head),
    })
  }

  /** Throws `invalid_request` for a form that names its model twice, or so that readers understand it differently. */
  add(chunk: Buffer): void {
    this.#scan(chunk)
  }

  told(): WatchedForm {
    return {
      model: this.#model,
      files: this.#isClear
        ? this.#files.map(({ name, capture }) => ({ name, head: capture.head(), tail: capture.tail(), size: capture.size }))
        : null,
    }
  }

  #named(text: string): void {
    if (this.#model !== null && this.#model !== text) throw twice()
    this.#model = text
  }

  /** It is unknown how long a file is that does not pass. */
  #fetched(text: string): void {
    if (text !== '') this.#isClear = false
  }

  #file(name: string): FileTaker | null {
    if (this.#files.length === mostFiles) {
      this.#isClear = false
      return null
    }
    const capture = new Capture(watchedBytes)
    this.#files.push({ name, capture })
    return (piece) => capture.add(piece)
  }

  #unclear(head: string): void {
    if (/model/i.test(head)) throw twice()
    this.#isClear = false
  }
}

const twice = () =>
  new ApiError('invalid_request', 'The form names its model twice, or in a way that not every reader understands alike.', {
    param: 'model',
  })

/** Returns a watch for a form of this type; null: no reader can read it. */
export function watchForm(contentType: string): FormWatch | null {
  const delimiter = delimiterOf(contentType)
  return delimiter === null ? null : new FormWatch(delimiter)
}
