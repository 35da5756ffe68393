import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { DialectTexts } from '../dialect.ts'
import type { ExtractedTexts } from '../neutral/texts.ts'
import { turns } from '../texts/readers.ts'
import { channelName, piece, place, readAll, shape, type Shape } from '../texts/shape.ts'
import { inItems } from '../texts/walk.ts'

const geminiFrame = shape(['promptFeedback', 'usageMetadata'], ['createTime', 'modelVersion', 'responseId'], ['candidates'])
const candidateShape: Shape = shape(
  ['citationMetadata', 'groundingMetadata', 'inlineData', 'logprobsResult', 'safetyRatings', 'thoughtSignature', 'urlContextMetadata'],
  ['finishReason', 'language', 'name', 'outcome'],
)

const candidateName = (candidate: unknown, at: number): string =>
  channelName('candidates', place(isFields(candidate) ? candidate['index'] : at, at))

const ended = (reason: unknown): boolean => typeof reason === 'string' && reason !== ''

function frame(json: Fields): ExtractedTexts | null {
  const { candidates } = json
  if (!Array.isArray(candidates)) return null
  const beside = readAll(json, [], geminiFrame).map((read) => piece(channelName(...read.path), read))
  const found = inItems(candidates, ['candidates'], (candidate, path, at) =>
    readAll(candidate, path, candidateShape).map((read) => {
      const steps = read.below.filter((step) => typeof step === 'string' && !['content', 'parts', 'text'].includes(step))
      return piece(channelName(candidateName(candidate, at), ...steps), read, candidateName(candidate, at))
    }),
  )
  const ends = candidates.flatMap((candidate, at) =>
    isFields(candidate) && ended(candidate['finishReason']) ? [candidateName(candidate, at)] : [],
  )
  return { texts: [...found, ...beside], ends }
}

export const texts: DialectTexts = {
  system: ['systemInstruction', 'system_instruction'],
  request: { contents: turns },
  conversations: ['contents'],
  roles: { tools: 'system', toolConfig: 'system', tool_config: 'system', generationConfig: 'system' },
  answer: ['candidates'],
  speaks: true,
  frame,
}
