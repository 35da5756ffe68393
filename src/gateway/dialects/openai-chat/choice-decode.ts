import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { mediaOfUrl } from '../media.ts'
import { type BlockEnd, type BlockStart, type NeutralEvent, plainEnd } from '../neutral/events.ts'
import { readSignature, type Signature } from '../neutral/signature.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'
import { type Call, CallList } from './call-list.ts'
import { readFinish } from './finish.ts'
import { readCitation, readLogprobs } from './answer-parts.ts'
import { addDetail, beginsAnother, detailsSignature, detailText, emptyBlock, isSealed } from './reasoning-details.ts'

/** So many characters of calls are held back: those that come while another is open. */
const mostHeld = 4 * 1024 * 1024

/** The part of a frame that belongs to no call, and how probable the tokens of its text were. */
interface ChoiceDelta {
  readonly delta: Fields
  readonly logprobs: unknown
}

/** The fields of a frame that make or add to a block which is no call. */
const spoken = ['content', 'reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'refusal', 'images', 'annotations']

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

const sizeOf = (value: unknown): number => (typeof value === 'string' ? value.length : isEmpty(value) ? 0 : JSON.stringify(value).length)

type Kind = BlockStart['kind']

function argumentPiece(about: Fields): string {
  const given = about['arguments'] ?? about['input'] ?? ''
  return typeof given === 'string' ? given : argumentsText(given)
}

const googleSignature = (piece: Fields): Signature | null =>
  readSignature(saidFields(saidFields(piece, 'extra_content') ?? piece, 'google')?.['thought_signature'], 'google')

export interface ChoiceOptions {
  readonly choice: number
  readonly makeId: (call: number) => string
  /** True if `reasoning_details` are OpenRouter's, which wants them back. */
  readonly readsDetails: boolean
}

const noDetails: readonly Fields[] = []

/** One choice of an answer as its pieces come. A class, because it is a state machine. */
export class ChoiceDecoder {
  readonly #choice: number
  readonly #makeId: (call: number) => string
  readonly #readsDetails: boolean
  readonly #calls = new CallList()
  #openCall: Call | null = null
  #kind: Kind | null = null
  #end: BlockEnd = plainEnd
  /** OpenRouter's pieces of the open block of reasoning. */
  #details = emptyBlock()
  /** True if the open block has sent content. */
  #told = false
  #heldSize = 0
  readonly #signed = new Set<string>()
  readonly #cited = new Set<string>()
  /** Characters of text before the open block of text, and in it. */
  #before = 0
  #length = 0
  /** The rest of the parts that came within the open call. */
  readonly #waiting: ChoiceDelta[] = []
  finished = false

  constructor({ choice, makeId, readsDetails }: ChoiceOptions) {
    this.#choice = choice
    this.#makeId = makeId
    this.#readsDetails = readsDetails
  }

  /** Takes the pieces of one frame, or a whole message, and how probable its tokens were: those of a text, where there is one. */
  push(delta: Fields, events: NeutralEvent[], logprobs: unknown = null): void {
    const said = { delta, logprobs: (delta['content'] ?? null) === null ? null : logprobs }
    if (this.#isWithinCall) this.#hold(said)
    else this.#speak(said, events)
    for (const call of saidList(delta, 'tool_calls')) this.#call(call, events)
    const old = saidFields(delta, 'function_call')
    if (old !== null) this.#call({ index: 0, function: old }, events)
    if (said.logprobs === null) this.#logprobs(logprobs, events)
  }

  /** True while the arguments of the open call are not whole: another block would cut them off. */
  get #isWithinCall(): boolean {
    return this.#openCall?.scan.isWhole === false
  }

  #hold(said: ChoiceDelta): void {
    if (!spoken.some((name) => !isEmpty(said.delta[name]))) return
    this.#waiting.push(said)
    for (const name of spoken) this.#heldSize += sizeOf(said.delta[name])
  }

  #speakOn(events: NeutralEvent[]): void {
    for (const said of this.#waiting.splice(0)) this.#speak(said, events)
  }

  #speak({ delta, logprobs }: ChoiceDelta, events: NeutralEvent[]): void {
    this.#reason(delta, events)
    this.#content(delta['content'] ?? null, events)
    this.#logprobs(logprobs, events)
    const refusal = saidText(delta, 'refusal')
    if (refusal !== null && refusal !== '') this.#say('refusal', refusal, events)
    for (const image of saidList(delta, 'images')) this.#image(image, events)
    for (const note of saidList(delta, 'annotations')) this.cite(note, events)
  }

  #logprobs(json: unknown, events: NeutralEvent[]): void {
    const tokens = readLogprobs(json)
    if (tokens.length > 0) events.push({ type: 'logprobs', choice: this.#choice, tokens })
  }

  /** Closes the open block, sends the calls that were held, and the finish. */
  finish(word: string, events: NeutralEvent[]): void {
    if (this.finished) return
    this.finished = true
    this.#close(events)
    this.#speakOn(events)
    this.#close(events)
    for (const call of this.#calls.all) {
      if (call.state === 'held') this.#open(call, events)
      this.#close(events)
    }
    events.push({ type: 'finish', choice: this.#choice, finish: readFinish(word, this.#calls.all.length > 0) })
  }

  /** Content may be a list of parts, of which some are reasoning. */
  #content(content: unknown, events: NeutralEvent[]): void {
    if (typeof content === 'string') {
      if (content !== '') this.#say('text', content, events)
      return
    }
    if (!Array.isArray(content)) return
    for (const part of content) {
      if (!isFields(part)) continue
      const thinking = part['thinking']
      if (part['type'] === 'thinking') {
        const texts = Array.isArray(thinking)
          ? saidList(part, 'thinking').map((one) => saidText(one, 'text') ?? '')
          : [saidText(part, 'thinking') ?? '']
        this.#say('reasoning', texts.join(''), events)
      } else this.#content(saidText(part, 'text'), events)
    }
  }

  #say(kind: 'text' | 'reasoning' | 'refusal', text: string, events: NeutralEvent[]): void {
    if (this.#kind !== kind) {
      this.#close(events)
      this.#begin({ kind }, events)
    }
    this.#told = true
    if (kind === 'text') this.#length += text.length
    events.push({ type: 'delta', choice: this.#choice, text })
  }

  #begin(block: BlockStart, events: NeutralEvent[]): void {
    this.#kind = block.kind
    if (block.kind === 'text') {
      this.#before += this.#length
      this.#length = 0
    }
    this.#told = false
    events.push({ type: 'block-start', choice: this.#choice, block })
  }

  #close(events: NeutralEvent[]): void {
    if (this.#kind === null) return
    if (this.#openCall !== null) {
      const { told, signature } = this.#openCall
      this.#openCall.state = 'over'
      this.#openCall = null
      if (!told) events.push({ type: 'delta', choice: this.#choice, text: '{}' })
      this.#end = { signature, redacted: false }
    }
    if (this.#details.pieces.size > 0) this.#seal()
    events.push({ type: 'block-end', choice: this.#choice, end: this.#end })
    this.#kind = null
    this.#end = plainEnd
  }

  #image(image: Fields, events: NeutralEvent[]): void {
    const url = saidText(saidFields(image, 'image_url') ?? image, 'url')
    if (url === null) return
    this.#close(events)
    this.#begin({ kind: 'media', media: 'image', source: mediaOfUrl(url) }, events)
    this.#close(events)
  }

  /** Takes a source of the text; its place counts from the beginning of all texts. */
  cite(note: Fields, events: NeutralEvent[]): void {
    const citation = readCitation(note)
    const key = citation === null ? '' : `${citation.url ?? ''} ${citation.start ?? ''} ${citation.end ?? ''}`
    if (citation === null || this.#cited.has(key)) return
    this.#cited.add(key)
    if (this.#kind !== 'text') {
      this.#close(events)
      this.#begin({ kind: 'text' }, events)
    }
    const { start, end } = citation
    const [from, to] = [start, end].map((place) => (place === null ? null : Math.max(0, place - this.#before)))
    events.push({ type: 'citation', choice: this.#choice, citation: { ...citation, start: from ?? null, end: to ?? null } })
  }

  /** Blocks of reasoning have their signature. Text that was sent before is not repeated. */
  #reason(delta: Fields, events: NeutralEvent[]): void {
    const blocks = saidList(delta, 'thinking_blocks')
    for (const block of blocks) this.#sign(block, events)
    if (blocks.length > 0) return
    const details = this.#readsDetails ? saidList(delta, 'reasoning_details') : noDetails
    const text = saidText(delta, 'reasoning_content') ?? saidText(delta, 'reasoning') ?? ''
    if (text !== '' && !details.some((detail) => detailText(detail) !== '')) this.#say('reasoning', text, events)
    for (const detail of details) this.#detail(detail, events)
  }

  /** Sealed pieces may come without a text, and beside parts that are no reasoning. */
  #detail(detail: Fields, events: NeutralEvent[]): void {
    const [text, sealed] = [detailText(detail), isSealed(detail)]
    if (text === '' && !sealed) return
    if (this.#kind === 'reasoning' && beginsAnother(this.#details, detail)) this.#close(events)
    if (text !== '') this.#say('reasoning', text, events)
    else if (this.#kind !== 'reasoning') {
      this.#close(events)
      this.#begin({ kind: 'reasoning' }, events)
    }
    addDetail(this.#details, detail)
    if (sealed) this.#heldSize += JSON.stringify(detail).length
  }

  #seal(): void {
    const signature = detailsSignature(this.#details)
    if (signature !== null) this.#end = { signature, redacted: !this.#told }
    this.#details = emptyBlock()
  }

  #sign(block: Fields, events: NeutralEvent[]): void {
    const redacted = block['type'] === 'redacted_thinking'
    const signature = readSignature(redacted ? block['data'] : block['signature'], 'anthropic')
    // A list that is sent whole repeats its earlier entries.
    if (signature !== null && this.#signed.has(signature.value)) return
    if (signature !== null) this.#signed.add(signature.value)
    if (redacted || this.#kind !== 'reasoning') {
      this.#close(events)
      this.#begin({ kind: 'reasoning' }, events)
      const text = saidText(block, 'thinking') ?? ''
      if (text !== '') this.#say('reasoning', text, events)
    }
    this.#end = { signature, redacted }
    this.#close(events)
  }

  #call(piece: Fields, events: NeutralEvent[]): void {
    const about = saidFields(piece, 'function') ?? saidFields(piece, 'custom') ?? piece
    const call = this.#calls.of(typeof piece['index'] === 'number' ? piece['index'] : null, saidText(piece, 'id') ?? '')
    if (call.name === '') call.name = saidText(about, 'name') ?? ''
    call.signature ??= googleSignature(piece)
    this.#argue(call, argumentPiece(about))
    if (call.state !== 'open') this.#makeRoom(call, events)
    if (call.state !== 'open') return
    this.#tell(call, events)
    if (this.#waiting.length > 0 && call.scan.isWhole) this.#speakOn(events)
  }

  #argue(call: Call, text: string): void {
    if (text === '') return
    call.held += text
    call.scan.push(text)
    if (call.state === 'held') this.#heldSize += text.length
  }

  /** True if more is held than may be. */
  get overflows(): boolean {
    return this.#heldSize > mostHeld
  }

  /** Opens a call when its name is known and no other is open, or the open one is whole. */
  #makeRoom(call: Call, events: NeutralEvent[]): void {
    if (call.state === 'over' || call.name === '') return
    if (this.#isWithinCall || this.#calls.firstHeld !== call) return
    this.#close(events)
    this.#open(call, events)
  }

  #open(call: Call, events: NeutralEvent[]): void {
    call.state = 'open'
    this.#openCall = call
    if (call.id === '') this.#calls.identify(call, this.#makeId(call.at))
    this.#begin({ kind: 'tool-call', id: call.id, name: call.name, custom: false }, events)
    this.#tell(call, events)
  }

  #tell(call: Call, events: NeutralEvent[]): void {
    if (call.held === '') return
    events.push({ type: 'delta', choice: this.#choice, text: call.held })
    call.held = ''
    call.told = true
  }
}
