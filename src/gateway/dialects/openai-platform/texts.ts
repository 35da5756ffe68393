import type { DialectTexts } from '../dialect.ts'

/** Runs of threads take instructions; answers are lists of files, jobs and messages. */
export const texts: DialectTexts = {
  system: ['instructions', 'additional_instructions'],
  request: {},
  unheard: ['metadata'],
  answer: ['content', 'data'],
}
