import { countCheck } from './counts.ts'

/** How many words are said. */
export const wordCount = countCheck({
  id: 'default.wordCount',
  title: 'Word count',
  noun: 'words',
  most: 99_999,
  count(text, enough) {
    const word = /\S+/g
    let words = 0
    while (words <= enough && word.test(text)) words += 1
    return words
  },
  anyLength: true,
})
