import type { ExtractedTexts, TextPart } from '../../dialects/neutral/texts.ts'

/** More characters than any check reads. */
export const maxKept = 2 * 1024 * 1024
/** More choices and calls of tools than any answer has; the texts of further ones are joined to one. */
const maxChannels = 1000
const others = 'others'

/** One text of a stream, as far as it has arrived. */
export interface Channel {
  readonly name: string
  text: string
  /** The number of characters that have arrived. */
  said: number
  /** The number of those that no later text can spoil. */
  safe: number
  /** True when its speaker has gone on to another text, or has ended. */
  over: boolean
  /** True when it went on after it was over: then its end cannot be recognised. */
  doubted: boolean
}

/** The channel to which the text of a frame went, and how far the channel was then. */
export interface Mark {
  readonly channel: Channel
  readonly until: number
  readonly path: ExtractedTexts['texts'][number]['path']
  /** True when it repeats all the text of the channel. */
  readonly copy: boolean
}

/** How far each channel was at one moment. */
export type Moment = ReadonlyMap<Channel, { readonly said: number; readonly over: boolean }>

/** All texts of a stream, by channel. */
export class StreamChannels {
  readonly #channels = new Map<string, Channel>()
  readonly #bySpeaker = new Map<string, Set<Channel>>()
  /** The channels that each speaker writes at present, one after another. */
  readonly #speaking = new Map<string, ReadonlySet<Channel>>()
  /** The number of characters that have arrived. */
  total = 0

  /** Takes the texts of a frame. */
  add({ texts, ends }: ExtractedTexts): readonly Mark[] {
    const marks = texts.map((text) => this.#addText(text))
    this.#goOn(texts, marks)
    for (const speaker of ends) for (const channel of this.#bySpeaker.get(speaker) ?? []) end(channel)
    return marks
  }

  #addText({ channel: name, copyOf, whole, speaker, text, path }: ExtractedTexts['texts'][number]): Mark {
    const original = copyOf === null ? undefined : this.#channels.get(copyOf)
    if (whole && original !== undefined) end(original)
    if (original?.text === text) return { channel: original, until: original.said, path, copy: true }
    const channel = this.#channelOf(name, speaker)
    if (whole && channel.text === text) return { channel, until: channel.said, path, copy: true }
    if (channel.over && !whole) channel.doubted = true
    channel.over = whole && channel.name !== others
    // So much cannot be judged any more; further text is only counted.
    if (this.total <= maxKept) channel.text += text
    channel.said += text.length
    this.total += text.length
    return { channel, until: channel.said, path, copy: false }
  }

  #channelOf(wanted: string, speaker: string | null): Channel {
    const name = this.#channels.has(wanted) || this.#channels.size < maxChannels ? wanted : others
    const known = this.#channels.get(name)
    if (known !== undefined) return known
    const channel: Channel = { name, text: '', said: 0, safe: 0, over: false, doubted: name === others }
    this.#channels.set(name, channel)
    if (speaker !== null && name !== others) this.#bySpeaker.set(speaker, (this.#bySpeaker.get(speaker) ?? new Set()).add(channel))
    return channel
  }

  /** Ends the former text of a speaker when it begins another; calls of tools may be written at the same time. */
  #goOn(texts: ExtractedTexts['texts'], marks: readonly Mark[]): void {
    const now = new Map<string, Set<Channel>>()
    for (const [at, { speaker, beside }] of texts.entries()) {
      const channel = marks[at]?.channel
      if (speaker === null || channel === undefined) continue
      const said = now.get(speaker) ?? new Set()
      now.set(speaker, beside ? said : said.add(channel))
    }
    for (const [speaker, channels] of now) {
      for (const before of this.#speaking.get(speaker) ?? []) if (!channels.has(before)) end(before)
      this.#speaking.set(speaker, channels)
    }
  }

  /** Returns the texts, one part a channel. */
  parts(): readonly TextPart[] {
    return [...this.#channels.values()].flatMap(({ name, text }) => (text === '' ? [] : [{ path: [name], role: 'assistant', text }]))
  }

  has(name: unknown): boolean {
    return typeof name === 'string' && this.#channels.has(name)
  }

  moment(): Moment {
    return new Map([...this.#channels.values()].map((channel) => [channel, { said: channel.said, over: channel.over }]))
  }

  /** Lets pass the text that came up to a moment: all but the end of an open text, in which a failure may have begun. */
  pass(moment: Moment, reachesBack: number): void {
    for (const [channel, { said, over }] of moment) channel.safe = Math.max(channel.safe, over ? said : said - reachesBack)
  }
}

function end(channel: Channel): void {
  if (!channel.doubted) channel.over = true
}
