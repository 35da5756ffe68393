import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext } from '../codec.ts'
import type { BlockEnd, BlockStart, Citation, TokenLogprob } from '../neutral/events.ts'
import type { Finish } from '../neutral/finish.ts'
import { CountedText } from './counted-text.ts'
import { writeFinish } from './finish.ts'
import { type PlacedCitation, placedCitation, writeGrounding, writeLogprobs } from './grounding.ts'
import { type CarriedReasoning, writeCarrier } from './signature.ts'

/** One candidate as it is written, block by block, for streams and whole answers. A class, because it is a state machine. */
export class CandidateEncoder {
  readonly #shows: boolean
  readonly #isEnum: boolean
  readonly #placed: PlacedCitation[] = []
  readonly #logprobs: TokenLogprob[] = []
  #carried: CarriedReasoning[] = []
  /** True if Google itself signed any of it. */
  #isGoogles = false
  #block: BlockStart | null = null
  /** The text of the open block. */
  #held = ''
  /** The same, for the places of its sources; null: it has grown since. */
  #counted: CountedText | null = null
  /** Bytes of text before the open block. */
  #before = 0
  /** Characters of text since the last call, before the open block. */
  #sinceCall = 0
  #finish: Finish | null = null

  constructor({ request }: AnswerContext) {
    this.#shows = request.reasoning?.show === true
    this.#isEnum = request.echo['enum'] === true
  }

  open(block: BlockStart): readonly Fields[] {
    this.#block = block
    this.#held = ''
    this.#counted = null
    if (block.kind === 'opaque') return isOwnPart(block.raw) ? [block.raw] : []
    if (block.kind !== 'media') return none
    const { source } = block
    if (source.kind === 'base64') return [{ inlineData: { mimeType: source.mediaType, data: source.data } }]
    return source.kind === 'url' ? [{ fileData: { fileUri: source.url } }] : none
  }

  /** Returns the kind of part that this piece of the open block is; null when it waits for the end of its block. */
  piece(text: string): 'text' | 'thought' | null {
    this.#held += text
    this.#counted = null
    const kind = this.#block?.kind
    if (kind === 'text') return this.#isEnum ? null : 'text'
    if (kind === 'refusal') return 'text'
    return kind === 'reasoning' && this.#shows ? 'thought' : null
  }

  cite(citation: Citation): void {
    this.#counted ??= new CountedText(this.#held)
    this.#placed.push(placedCitation(citation, this.#counted, this.#before))
  }

  logprobs(tokens: readonly TokenLogprob[]): void {
    for (const token of tokens) this.#logprobs.push(token)
  }

  close(end: BlockEnd): readonly Fields[] {
    const block = this.#block
    this.#block = null
    if (block?.kind === 'tool-call') {
      this.#sinceCall = 0
      return [this.#call(block, end)]
    }
    if (block?.kind === 'reasoning') return this.#sign(end)
    if (block?.kind === 'refusal') this.#sinceCall += this.#held.length
    if (block?.kind !== 'text') return none
    this.#sinceCall += this.#held.length
    this.#before += Buffer.byteLength(this.#held)
    return this.#isEnum ? [{ text: wordOf(this.#held) }] : none
  }

  finish(finish: Finish): void {
    this.#finish = finish
  }

  /** Returns the thoughts of another vendor that no call carried. */
  rest(): readonly Fields[] {
    return this.#carried.length === 0 ? none : [{ text: '', thought: true, thoughtSignature: this.#carrier() }]
  }

  /** Returns the last part of the candidate. */
  tail(): Fields {
    const finish = this.#finish
    return {
      ...(finish !== null && { finishReason: writeFinish(finish) }),
      ...(finish !== null && finish.explanation !== null && { finishMessage: finish.explanation }),
      ...writeGrounding(this.#placed),
      ...writeLogprobs(this.#logprobs),
    }
  }

  #carrier(): string {
    const carrier = writeCarrier(this.#carried)
    this.#carried = []
    return carrier
  }

  #call({ id, name }: BlockStart & { readonly kind: 'tool-call' }, { signature }: BlockEnd): Fields {
    const functionCall = { id, name, args: argumentsOf(this.#held) }
    if (signature?.origin === 'google') return { functionCall, thoughtSignature: signature.value }
    return this.#isGoogles && this.#carried.length === 0 ? { functionCall } : { functionCall, thoughtSignature: this.#carrier() }
  }

  #sign({ signature, redacted }: BlockEnd): readonly Fields[] {
    if (signature === null) return none
    this.#isGoogles ||= signature.origin === 'google'
    if (signature.origin === 'google') return [{ text: '', thought: true, thoughtSignature: signature.value }]
    this.#carried.push({ text: this.#held, signature, redacted, after: this.#sinceCall })
    return none
  }
}

const none: readonly Fields[] = []

const isOwnPart = (raw: Fields): boolean => 'executableCode' in raw || 'codeExecutionResult' in raw

/** Models break JSON at times, and an answer must not fail for it. */
function argumentsOf(text: string): Fields {
  const parsed = text.trim() === '' ? {} : exactOrUndefined(text)
  return isFields(parsed) ? parsed : { _raw: text }
}

/** Returns the word of an answer that is one of a list. */
function wordOf(text: string): string {
  const parsed = jsonOrUndefined(text)
  const value = isFields(parsed) ? parsed['value'] : parsed
  return typeof value === 'string' ? value : text
}
