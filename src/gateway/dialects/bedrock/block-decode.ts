import type { Fields } from '../../../lib/json/fields.ts'
import type { BlockTurn } from '../neutral/block-turns.ts'
import { type BlockEnd, type BlockStart, type Citation, plainEnd } from '../neutral/events.ts'
import type { Signature } from '../neutral/signature.ts'
import { saidFields, saidList, saidText } from '../reading.ts'

/** One block as its events come. Only those of tools and images begin with an event of their own. A class, because it is a state machine. */
export class BlockDecoder {
  readonly kind: BlockStart['kind']
  readonly #turn: BlockTurn
  #signature: Signature | null = null
  #hasArguments = false

  constructor(block: BlockStart, turn: BlockTurn) {
    this.kind = block.kind
    this.#turn = turn
    turn.held.push({ type: 'block-start', choice: 0, block })
  }

  get isOver(): boolean {
    return this.#turn.isOver
  }

  say(text: string): void {
    if (text === '') return
    this.#hasArguments = true
    this.#turn.held.push({ type: 'delta', choice: 0, text })
  }

  cite(citation: Fields): void {
    this.#turn.held.push({ type: 'citation', choice: 0, citation: readCitation(citation) })
  }

  reason(reasoning: Fields): void {
    const [signature, redacted] = [saidText(reasoning, 'signature'), saidText(reasoning, 'redactedContent')]
    this.say(saidText(reasoning, 'text') ?? '')
    if (signature !== null && signature !== '') this.#signature = { origin: 'anthropic', value: signature }
    if (redacted !== null) this.close({ signature: { origin: 'bedrock', value: redacted }, redacted: true })
  }

  close(end: BlockEnd = { signature: this.#signature, redacted: false }): void {
    if (this.#turn.isOver) return
    this.#turn.isOver = true
    if (this.kind === 'tool-call' && !this.#hasArguments) this.say('{}')
    this.#turn.held.push({ type: 'block-end', choice: 0, end: this.kind === 'reasoning' ? end : plainEnd })
  }
}

/** Reads a source that the model quotes. */
function readCitation(citation: Fields): Citation {
  const location = saidFields(citation, 'location') ?? {}
  const quotes = saidList(citation, 'sourceContent').flatMap((one) => saidText(one, 'text') ?? [])
  return {
    url: saidText(saidFields(location, 'web') ?? {}, 'url') ?? saidText(citation, 'source'),
    title: saidText(citation, 'title'),
    quote: quotes.length === 0 ? null : quotes.join(''),
    start: null,
    end: null,
    bag: { bedrock: { location } },
  }
}
