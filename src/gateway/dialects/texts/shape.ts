import type { JsonPath } from '../../../lib/json/json-path.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { FrameText } from '../neutral/texts.ts'

/** The fields of a shape that hold no text. Every text in another field counts as content. */
export interface Shape {
  /** Fields that never hold a model's text, with all their contents. */
  readonly asides: ReadonlySet<string>
  /** Fields that hold a name or a mark; a sentence in one of them counts. */
  readonly marks: ReadonlySet<string>
  /** Fields of the outermost object that are read apart. */
  readonly apart: ReadonlySet<string>
}

export const shape = (asides: readonly string[], marks: readonly string[], apart: readonly string[] = []): Shape => ({
  asides: new Set([...always, ...asides]),
  marks: new Set([...named, ...marks]),
  apart: new Set(apart),
})

const always = ['encrypted_content', 'logprobs', 'obfuscation', 'signature', 'usage']
const named = ['created_at', 'id', 'model', 'object', 'role', 'service_tier', 'system_fingerprint', 'type']

/** In a frame of no known shape only these are no text. */
export const unknownShape: Shape = { apart: new Set(), asides: new Set(), marks: new Set([...named, 'event_type', 'finish_reason']) }

const mark = /^[\w.:/@+=-]{0,128}$/
const media = /^data:(?:image|audio|video)\//

interface TextRead {
  readonly path: JsonPath
  /** The steps below the value that was read. */
  readonly below: JsonPath
  readonly text: string
}

/** Arguments of tools, whose names are the tool's own. */
const free = new Set(['args', 'arguments', 'input', 'json', 'response'])

/** Every text in a value, but for those in fields that are known to be none. A frame is no deeper than can be walked. */
export function readAll(value: unknown, path: JsonPath, { asides, marks, apart }: Shape): readonly TextRead[] {
  const found: TextRead[] = []
  const below: (string | number)[] = []
  const isAside = (key: string): boolean => asides.has(key) || (below.length === 0 && apart.has(key))
  const take = (text: string, isMark: boolean): void => {
    if (text !== '' && !(isMark && mark.test(text)) && !media.test(text)) found.push({ path: [...path, ...below], below: [...below], text })
  }
  const walk = (part: unknown, name: string, isFree: boolean): void => {
    if (typeof part === 'string') take(part, !isFree && marks.has(name))
    else if (Array.isArray(part)) for (const [at, item] of part.entries()) into(at, item, { name, isFree })
    else if (isFields(part))
      for (const key of Object.keys(part)) if (isFree || !isAside(key)) into(key, part[key], { name: key, isFree: isFree || free.has(key) })
  }
  const into = (step: string | number, child: unknown, { name, isFree }: { name: string; isFree: boolean }): void => {
    if (child === null || (typeof child !== 'string' && typeof child !== 'object')) return
    below.push(step)
    walk(child, name, isFree)
    below.pop()
  }
  walk(value, '', false)
  return found
}

/** A piece of a text that stands for itself. */
export const piece = (channel: string, { path, text }: Pick<TextRead, 'path' | 'text'>, speaker: string | null = null): FrameText => ({
  channel,
  path,
  text,
  speaker,
  beside: false,
  copyOf: null,
  whole: false,
})

/** A whole text that most often repeats the pieces of a channel. */
export const copy = (channel: string, read: Pick<TextRead, 'path' | 'text'>): FrameText => ({
  ...piece(`${channel} again`, read),
  copyOf: channel,
  whole: true,
})

/** The name of a channel, from its present parts. */
export const channelName = (...steps: readonly (string | number)[]): string => steps.join('.')

/** A number by which a part of an answer is known. */
export const place = (index: unknown, otherwise = 0): number => (typeof index === 'number' ? index : otherwise)

/** The fields of an object but for some. */
export const without = (json: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)))
