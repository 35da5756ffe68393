import { countCheck } from './counts.ts'

/** How many words are said. */
export const wordCount = countCheck({
  id: 'default.wordCount',
  title: 'Word count',
  noun: 'words',
  most: 99_999,
  count: (text) => text.match(/\S+/g)?.length ?? 0,
})
