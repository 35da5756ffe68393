import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { headerValue, type HeaderList } from '../../wire/header-list.ts'
import { countOf, noUsage, sumOf } from '../neutral/token-usage.ts'
import { readOnce, type TaskAnswer, type TaskContext, type TaskTranslation, type WrittenAnswer } from '../tasks/task.ts'
import { saidFields, unreadable } from '../reading.ts'
import { asOpenai } from './compatible.ts'
import { googleClient } from './google-client.ts'
import type { EmbeddingAnswer, EmbeddingClient, EmbeddingProvider, EmbeddingRequest } from './neutral.ts'
import { openaiClient } from './openai-client.ts'
import { embeddingProviders } from './providers.ts'

/** The formats in which clients ask for vectors. */
export const embeddingClients: Readonly<Record<string, EmbeddingClient>> = { embeddings: openaiClient, google: googleClient }

export interface AskedEmbeddings {
  /** The dialect of the client. */
  readonly from: string
  /** The provider's dialect with its form. */
  readonly to: string
  readonly body: Fields
  /** Counts the tokens of texts whose provider states none. */
  readonly estimate: (texts: readonly string[]) => number
}

/** Translates a request for vectors: in as many calls as the provider needs, whose answers are one. Throws `invalid_request`. */
export function translateEmbeddings(asked: AskedEmbeddings, context: TaskContext): TaskTranslation | null {
  const client = embeddingClients[asked.from]
  const provider = embeddingProviders[asked.to] ?? (asked.to === 'embeddings' ? embeddingProviders['embeddings/plain'] : undefined)
  if (client === undefined || provider === undefined) return null
  const request = client.decode(asked.body)
  if (provider.isCompatible !== true) refuseOthers(request, context)
  refuseMany(request, provider.most)
  const groups = groupsOf(request.inputs, provider.most)
  const read = readOnce(({ json, rawHeaders }) => withHeader(provider.decode(json), rawHeaders))
  const writing = { asked, request, client, provider, model: context.model, read }
  const groupAt = (at: number): readonly (readonly unknown[])[] => groups.slice(at, at + 1)
  return {
    bodies: groups.map((inputs) => ({ json: provider.encode({ ...request, inputs }, context) })),
    loss: context.loss,
    part: {
      isAnswer: (answer, at) => read(answer)?.vectors.length === groups[at]?.length,
      write: (answer, at) => writeVectors([answer], { ...writing, groups: groupAt(at) }),
    },
    write: (answers) => write(answers, { ...writing, groups }),
  }
}

/** Refuses inputs that are no text: the tokens of one vocabulary mean nothing in another. */
function refuseOthers({ inputs, names }: EmbeddingRequest, { loss }: TaskContext): void {
  const at = inputs.findIndex((one) => typeof one !== 'string')
  if (at !== -1) loss.refuseAt(inputs.length === 1 ? names.inputs : `${names.inputs}[${at}]`, 'takes texts there, neither tokens nor parts')
}

/** The most inputs of one request that goes in several calls: as many as OpenAI's API takes in one. */
const mostInputs = 2048

function refuseMany({ inputs, names }: EmbeddingRequest, most: number): void {
  if (inputs.length > most && inputs.length > mostInputs)
    throw unreadable(names.inputs, `at most ${mostInputs} inputs for this provider, which takes ${most} in a call; it has ${inputs.length}`)
}

function groupsOf(inputs: readonly unknown[], most: number): readonly (readonly unknown[])[] {
  if (inputs.length <= most) return [inputs]
  return Array.from({ length: Math.ceil(inputs.length / most) }, (_, at) => inputs.slice(at * most, (at + 1) * most))
}

interface WriteOptions {
  readonly asked: AskedEmbeddings
  readonly request: EmbeddingRequest
  readonly client: EmbeddingClient
  readonly provider: EmbeddingProvider
  readonly groups: readonly (readonly unknown[])[]
  readonly model: string
  readonly read: (answer: TaskAnswer) => EmbeddingAnswer | null
}

function write(answers: readonly TaskAnswer[], writing: WriteOptions): WrittenAnswer | null {
  const [first] = answers
  const isPlain = writing.provider.isCompatible === true && writing.asked.from === 'embeddings' && answers.length === 1
  if (!isPlain || !isFields(first?.json)) return writeVectors(answers, writing)
  const body = asOpenai(first.json, writing.asked.body)
  const tokens = countOf(saidFields(body, 'usage')?.['prompt_tokens'])
  return { body: { json: body }, usage: tokens === null ? null : { ...noUsage, input: tokens, output: 0 } }
}

function writeVectors(
  answers: readonly TaskAnswer[],
  { asked, client, groups, model, read: readAnswer }: WriteOptions,
): WrittenAnswer | null {
  const read = answers.map((one, at) => {
    const answer = readAnswer(one)
    return answer?.vectors.length === groups[at]?.length ? answer : null
  })
  if (!read.every((one) => one !== null)) return null
  const told = read.every(({ tokens }) => tokens !== null) ? sumOf(...read.map(({ tokens }) => tokens)) : null
  const [first] = answers
  const named = isFields(first?.json) && typeof first.json['model'] === 'string' ? first.json['model'] : model
  const vectors = read.flatMap((one) => one.vectors)
  const tokens = told ?? asked.estimate(groups.flat().filter((one) => typeof one === 'string'))
  return {
    body: { json: client.encode({ vectors, tokens, estimated: told === null, model: named }, asked.body) },
    usage: told === null ? null : { ...noUsage, input: told, output: 0 },
  }
}

/** Bedrock counts the tokens of every model in a header. */
function withHeader(answer: EmbeddingAnswer | null, headers: HeaderList): EmbeddingAnswer | null {
  if (answer === null || answer.tokens !== null) return answer
  const counted = headerValue(headers, 'x-amzn-bedrock-input-token-count')
  return counted === undefined ? answer : { ...answer, tokens: countOf(Number(counted)) }
}
