import { createRequire } from 'node:module'

/** The vocabulary of OpenAI's models since GPT-4o. */
interface Vocabulary {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number
}

/** The name that the log has for the tokenizer of an estimate. */
export const tokenizerName = 'o200k_base'

const load = createRequire(import.meta.url)
let vocabulary: Vocabulary | null = null

/** Its 2.4 MB are read when the first text is counted: 0.15 s and 64 MB, which a process that never estimates does without. */
function openVocabulary(): Vocabulary {
  const opened: Vocabulary = load('gpt-tokenizer/encoding/o200k_base')
  vocabulary = opened
  return opened
}

/** Names such as `<|endoftext|>` are words like others: texts of callers cannot mean more. */
const plain = { disallowedSpecial: new Set<string>() }

/** The most characters of the texts of a body that are all counted; more are taken to be like samples of them. */
export const countedLength = 65_536
/** They lie evenly over all texts, each anywhere in its part of them: a caller with the positions could put spaces there. */
const samples = 64
/** A number of whole pieces of a word without an end. */
const sampleLength = 1000

/** A word without an end costs the square of its length. Cut into such pieces it has a token or two more. */
const longWord = /\S{200}|\s{200}/
const pieces = /\s?\S{1,200}|\s{1,200}/g

/** Counts the tokens that a text has in the vocabulary of OpenAI's models. */
export const countTokens = (text: string): number => countTokensOf([text])

/** Counts the tokens of all texts of a body: all texts share one bound, or many short ones would be past it. */
export function countTokensOf(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length <= countedLength) return texts.reduce((sum, text) => sum + countAll(text), 0)
  const part = length / samples
  let tokens = 0
  // The text in which the next sample begins, and the characters before that text.
  let [at, before] = [0, 0]
  for (let sample = 0; sample < samples; sample += 1) {
    const start = Math.floor(sample * part + Math.random() * (part - sampleLength))
    for (; start >= before + lengthAt(texts, at); at += 1) before += lengthAt(texts, at)
    tokens += countFrom(texts, at, start - before)
  }
  return Math.ceil((tokens * length) / (samples * sampleLength))
}

const lengthAt = (texts: readonly string[], at: number): number => texts[at]?.length ?? Infinity

/** Counts one sample, which begins within a text and goes on through those behind it. */
function countFrom(texts: readonly string[], first: number, start: number): number {
  let tokens = 0
  let [at, from, left] = [first, start, sampleLength]
  while (left > 0 && at < texts.length) {
    const piece = texts[at]?.slice(from, from + left) ?? ''
    tokens += countAll(piece)
    left -= piece.length
    from = 0
    at += 1
  }
  return tokens
}

function countAll(text: string): number {
  if (text === '') return 0
  const opened = vocabulary ?? openVocabulary()
  if (!longWord.test(text)) return opened.countTokens(text, plain)
  let sum = 0
  for (const [piece] of text.matchAll(pieces)) sum += opened.countTokens(piece, plain)
  return sum
}
