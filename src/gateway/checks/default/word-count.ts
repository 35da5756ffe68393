import { countCheck } from './counts.ts'
import { unspaced } from './unspaced.ts'

const letterOrNumber = /[\p{L}\p{N}]/u
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
/** A text without a space is divided in pieces of so many characters, so that counting can stop early. */
const pieceLength = 4096

/** Counts the words of a text of a script without spaces, by the dictionaries of Unicode. */
function countUnspaced(text: string, enough: number): number {
  let words = 0
  for (let at = 0; at < text.length && words <= enough; at += pieceLength)
    for (const { isWordLike } of segmenter.segment(text.slice(at, at + pieceLength))) if (isWordLike === true) words += 1
  return words
}

/** The number of words. */
export const wordCount = countCheck({
  id: 'default.wordCount',
  title: 'Word count',
  noun: 'words',
  most: 99_999,
  count(text, enough) {
    const parts = /\S+/g
    let words = 0
    for (let part = parts.exec(text); part !== null && words <= enough; part = parts.exec(text)) {
      const [said] = part
      if (unspaced.test(said)) words += countUnspaced(said, enough - words)
      else if (letterOrNumber.test(said)) words += 1
    }
    return words
  },
  anyLength: true,
})
