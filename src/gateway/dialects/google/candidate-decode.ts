import type { Fields } from '../../../lib/json/fields.ts'
import { base64Media } from '../media.ts'
import { type BlockEnd, type BlockStart, type NeutralEvent, plainEnd, type TokenLogprob } from '../neutral/events.ts'
import { finishOf } from '../neutral/finish.ts'
import { noUsage } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { readFinish } from './finish.ts'
import { CallPieces, type WholeCall } from './call-pieces.ts'
import { CountedText } from './counted-text.ts'
import { citedPages, keyOf, type Page, readLogprobs, restsOnMaps, searchesOf } from './grounding.ts'

/** So much text is kept to find places in it that are counted in bytes; sources of later text are cited without a place. */
const mostText = 256 * 1024
/** Further sources are left out. */
const mostCitations = 1000

/** Parts of tools that run at Google. */
const opaque = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']

/** One candidate as its frames come. A class, because it is a state machine. */
export class CandidateDecoder {
  readonly #choice: number
  readonly #makeId: (call: number) => string
  readonly #cited = new Set<string>()
  /** The numbers of the pages that were cited. */
  readonly #pages = new Map<string, number>()
  #kind: BlockStart['kind'] | null = null
  #calls = 0
  readonly #pieces = new CallPieces()
  readonly #text = new CountedText()
  #before = 0
  #hasSpoken = false
  /** The probabilities of the tokens of the frame, until they are sent on. */
  #tokens: readonly TokenLogprob[] = []
  /** True when the frame has added to the open text. */
  #adds = false
  #finish: { readonly word: string; readonly message: string | null } | null = null

  constructor(choice: number, makeId: (call: number) => string) {
    this.#choice = choice
    this.#makeId = makeId
  }

  get isFinished(): boolean {
    return this.#finish !== null
  }

  /** Takes the candidate of one frame. Its finish is kept until the end: older models repeat `STOP` in every frame. */
  push(candidate: Fields, events: NeutralEvent[]): void {
    const content = saidFields(candidate, 'content')
    if ('logprobsResult' in candidate) this.#tokens = readLogprobs(candidate)
    this.#adds = false
    if (content !== null) for (const part of saidList(content, 'parts')) this.#part(part, events)
    if (this.#kind !== null) this.#logprobs(events)
    this.#tokens = []
    if ('groundingMetadata' in candidate || 'citationMetadata' in candidate) this.#cite(candidate, events)
    const word = saidText(candidate, 'finishReason')
    if (word !== null && word !== '' && word !== 'FINISH_REASON_UNSPECIFIED')
      this.#finish = { word, message: saidText(candidate, 'finishMessage') }
  }

  /** True if more arguments are held than may be. */
  get overflows(): boolean {
    return this.#pieces.overflows
  }

  /** Closes the open block and sends the finish. False: the model failed before its first content. */
  end(events: NeutralEvent[]): boolean {
    for (const call of this.#pieces.end()) this.#tell(call, events)
    this.#close(events)
    const { word, message } = this.#finish ?? { word: 'STOP', message: null }
    const finish = readFinish(word, this.#calls > 0, message)
    if (finish.reason === 'error' && !this.#hasSpoken) return false
    events.push({ type: 'finish', choice: this.#choice, finish: finish.reason === 'error' ? finishOf('other', word) : finish })
    return true
  }

  /** Returns why the model failed. */
  get failure(): string {
    const { word, message } = this.#finish ?? { word: 'OTHER', message: null }
    return message === null ? `The model ended its answer with ${word}.` : `${word}: ${message}`
  }

  #part(part: Fields, events: NeutralEvent[]): void {
    const signature = saidText(part, 'thoughtSignature') || null
    const call = saidFields(part, 'functionCall')
    if (call !== null) {
      for (const whole of this.#pieces.push(call, signature)) this.#tell(whole, events)
      return
    }
    const text = saidText(part, 'text')
    if (text !== null) this.#say(part['thought'] === true ? 'reasoning' : 'text', text, events)
    else this.#other(part, events)
    if (signature !== null) this.#sign(signature, events)
  }

  #other(part: Fields, events: NeutralEvent[]): void {
    if ('inlineData' in part || 'fileData' in part) this.#media(part, events)
    const type = opaque.find((name) => name in part)
    if (type !== undefined) this.#whole({ kind: 'opaque', type, raw: part }, plainEnd, events)
  }

  #say(kind: 'text' | 'reasoning', text: string, events: NeutralEvent[]): void {
    if (text === '') return
    if (this.#kind !== kind) {
      this.#close(events)
      this.#begin({ kind }, events)
    }
    if (kind === 'text' && this.#text.length < mostText) this.#text.add(text)
    this.#adds = kind === 'text'
    events.push({ type: 'delta', choice: this.#choice, text })
  }

  #begin(block: BlockStart, events: NeutralEvent[]): void {
    this.#hasSpoken = true
    this.#kind = block.kind
    if (block.kind === 'text') this.#before = this.#text.length
    events.push({ type: 'block-start', choice: this.#choice, block })
  }

  #close(events: NeutralEvent[], end: BlockEnd = plainEnd): void {
    if (this.#kind === null) return
    if (this.#adds) this.#logprobs(events)
    this.#adds = false
    this.#kind = null
    events.push({ type: 'block-end', choice: this.#choice, end })
  }

  #whole(block: BlockStart, end: BlockEnd, events: NeutralEvent[]): void {
    this.#close(events)
    this.#begin(block, events)
    this.#close(events, end)
  }

  /** A signature ends the thought that is open. One of a text is sent as a thought without text, behind it. */
  #sign(value: string, events: NeutralEvent[]): void {
    const end: BlockEnd = { signature: { origin: 'google', value }, redacted: false }
    if (this.#kind === 'reasoning') this.#close(events, end)
    else this.#whole({ kind: 'reasoning' }, end, events)
  }

  #tell({ call, text, signature }: WholeCall, events: NeutralEvent[]): void {
    const id = saidText(call, 'id') || this.#makeId(this.#calls)
    this.#calls += 1
    this.#close(events)
    this.#begin({ kind: 'tool-call', id, name: saidText(call, 'name') ?? '', custom: false }, events)
    events.push({ type: 'delta', choice: this.#choice, text })
    this.#close(events, signature === null ? plainEnd : { signature: { origin: 'google', value: signature }, redacted: false })
  }

  #media(part: Fields, events: NeutralEvent[]): void {
    const inline = saidFields(part, 'inlineData')
    const mediaType = saidText(inline ?? saidFields(part, 'fileData') ?? {}, 'mimeType') ?? 'application/octet-stream'
    const url = saidText(saidFields(part, 'fileData') ?? {}, 'fileUri') ?? ''
    const source = inline === null ? { kind: 'url' as const, url } : base64Media(mediaType, saidText(inline, 'data') ?? '')
    const media = (['image', 'audio', 'video'] as const).find((kind) => mediaType.startsWith(`${kind}/`)) ?? 'file'
    this.#whole({ kind: 'media', media, source }, plainEnd, events)
  }

  /** Sends the tokens of a frame while the block that they belong to is open: a call may follow it in the same frame. */
  #logprobs(events: NeutralEvent[]): void {
    if (this.#tokens.length === 0) return
    events.push({ type: 'logprobs', choice: this.#choice, tokens: this.#tokens })
    this.#tokens = []
  }

  #cite(candidate: Fields, events: NeutralEvent[]): void {
    const searches = searchesOf(candidate)
    const apart = restsOnMaps(candidate) ? { maps: 1 } : null
    if (searches !== null || apart !== null) events.push({ type: 'usage', usage: { ...noUsage, searches, apart }, tier: null })
    const numbers = new Map<Page, number>()
    for (const { page, start, end } of citedPages(candidate, { text: this.#text, before: this.#before })) {
      if (this.#cited.size >= mostCitations) return
      const number = numbers.get(page) ?? this.#numberOf(page)
      numbers.set(page, number)
      const key = `${number} ${start ?? ''} ${end ?? ''}`
      if (this.#cited.has(key)) continue
      this.#cited.add(key)
      if (this.#kind !== 'text') {
        this.#close(events)
        this.#begin({ kind: 'text' }, events)
      }
      events.push({ type: 'citation', choice: this.#choice, citation: { ...page, start, end } })
    }
  }

  /** One page may be long, and named any number of times. */
  #numberOf(page: Page): number {
    const key = keyOf(page)
    const number = this.#pages.get(key) ?? this.#pages.size
    this.#pages.set(key, number)
    return number
  }
}
