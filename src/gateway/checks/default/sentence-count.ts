import { countCheck } from './counts.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** How many sentences are said. */
export const sentenceCount = countCheck({
  id: 'default.sentenceCount',
  title: 'Sentence count',
  noun: 'sentences',
  most: 99_999,
  count(text) {
    let sentences = 0
    for (const { segment } of segmenter.segment(text)) if (/\p{L}|\p{N}/u.test(segment)) sentences += 1
    return sentences
  },
  anyLength: false,
})
