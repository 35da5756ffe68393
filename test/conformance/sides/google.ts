import { type Content, type GenerateContentConfig, type GenerateContentResponse, GoogleGenAI, type Part, type Schema } from '@google/genai'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfGoogle } from '../../support/dialects/strict-google.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  type Ask,
  type Called,
  heardOf,
  inOrder,
  type Lines,
  type Piece,
  type ProviderSide,
  type Result,
  type Say,
  saidOf,
  type Stop,
  type Talk,
  type Talker,
  thoughtLine,
} from '../talk.ts'

/** The fields that the classes of the client add to the wire. */
type Wire = Omit<
  GenerateContentResponse,
  'text' | 'data' | 'functionCalls' | 'executableCode' | 'codeExecutionResult' | 'initialPromptTokenCount'
>

const toResult = ({ result }: Result): Part => ({
  functionResponse: { id: result.id, name: result.name, response: { output: result.text } },
})

function toPart(piece: Piece): Part {
  if ('text' in piece) return { text: piece.text }
  if ('image' in piece && piece.image.url !== undefined) return { fileData: { mimeType: piece.image.mime, fileUri: piece.image.url } }
  if ('image' in piece) return { inlineData: { mimeType: piece.image.mime, data: piece.image.data } }
  if ('file' in piece) return { inlineData: { mimeType: piece.file.mime, data: piece.file.data } }
  if ('audio' in piece) return { inlineData: { mimeType: piece.audio.mime, data: piece.audio.data } }
  if ('video' in piece) return { inlineData: { mimeType: piece.video.mime, data: piece.video.data } }
  if ('call' in piece) return { functionCall: { id: piece.call.id, name: piece.call.name, args: { ...piece.call.args } } }
  return toResult(piece)
}

const toContents = (ask: Ask): Content[] =>
  ask.turns.map(({ role, pieces }) => ({ role: role === 'user' ? role : 'model', parts: pieces.map(toPart) }))

const toConfig = (ask: Ask): GenerateContentConfig => ({
  maxOutputTokens: ask.maxTokens,
  ...(ask.system !== undefined && { systemInstruction: ask.system }),
  ...(ask.tools && {
    tools: [{ functionDeclarations: ask.tools.map(({ name, parameters }) => ({ name, parametersJsonSchema: parameters })) }],
  }),
  ...(ask.schema && { responseMimeType: 'application/json', responseJsonSchema: ask.schema }),
  ...(ask.thinks && { thinkingConfig: { thinkingBudget: 1024, includeThoughts: true } }),
  ...(ask.stop !== undefined && { stopSequences: [ask.stop] }),
})

const stops: Readonly<Record<string, Stop>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
}

interface Gathered {
  readonly parts: readonly Part[]
  readonly finish: string
  readonly usage: GenerateContentResponse['usageMetadata']
}

const gather = (answers: readonly Wire[]): Gathered => ({
  parts: answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []),
  finish: answers.flatMap(({ candidates }) => candidates?.[0]?.finishReason ?? []).at(-1) ?? '',
  usage: answers.flatMap(({ usageMetadata }) => usageMetadata ?? []).at(-1),
})

function sayOf({ parts, finish, usage }: Gathered): Say {
  const texts = (isThought: boolean) => parts.flatMap(({ text, thought = false }) => (text && thought === isThought ? [text] : [])).join('')
  const calls = parts.flatMap(({ functionCall: call }): Called['call'][] =>
    call ? [{ id: call.id ?? '', name: call.name ?? '', args: call.args ?? {} }] : [],
  )
  return {
    ...(texts(true) && { thought: { text: texts(true), signature: '' } }),
    ...(texts(false) && { text: texts(false) }),
    calls,
    stop: stops[finish] ?? ('none' as Stop),
    counts: {
      input: usage?.promptTokenCount ?? -1,
      cached: usage?.cachedContentTokenCount ?? 0,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
      thought: usage?.thoughtsTokenCount ?? 0,
    },
  }
}

/** Sends the requests of Google's client, without `alt=sse`: the stream is one JSON array, as its clients of other languages read it. */
async function readArray({ origin, key, headers, model, signal }: Address, body: object): Promise<readonly Wire[]> {
  const response = await fetch(`${origin}/v1beta/models/${model}:streamGenerateContent`, {
    method: 'POST',
    headers: { ...headers, 'x-goog-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
  const text = await response.text()
  if (!response.ok) throw Object.assign(new Error(text), { status: response.status })
  const answers = JSON.parse(text) as readonly (Wire & { readonly error?: object })[]
  const failed = answers.find(({ error }) => error !== undefined)
  if (failed !== undefined) throw new Error(JSON.stringify(failed))
  return answers
}

/** The body that the client makes of its configuration. */
function toBody(contents: readonly Content[], { systemInstruction, tools, ...generationConfig }: GenerateContentConfig): object {
  return {
    contents,
    generationConfig,
    ...(tools && { tools }),
    ...(systemInstruction ? { systemInstruction: { parts: [{ text: systemInstruction }] } } : {}),
  }
}

/** Google's own client; `asArray`: its streams are read as one JSON array. */
export function googleTalker(address: Address, asArray = false): Talker {
  const { origin, key, headers, model, extra, signal } = address
  const client = new GoogleGenAI({
    apiKey: key,
    httpOptions: { baseUrl: origin, headers: { ...headers }, ...(extra && { extraBody: { ...extra } }) },
  })
  const send = async (contents: Content[], config: GenerateContentConfig, stream: boolean): Promise<Talk> => {
    const asked = { model, contents, config: { ...config, ...(signal && { abortSignal: signal }) } }
    const answers: Wire[] = []
    if (stream && asArray) answers.push(...(await readArray(address, { ...toBody(contents, config), ...extra })))
    else if (stream) for await (const piece of await client.models.generateContentStream(asked)) answers.push(piece)
    else answers.push(await client.models.generateContent(asked))
    const found = gather(answers)
    const say = sayOf(found)
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) =>
        send([...contents, { role: 'model', parts: [...found.parts] }, { role: 'user', parts: results.map(toResult) }], config, stream),
    }
  }
  return { talk: (ask, stream) => send(toContents(ask), toConfig(ask), stream) }
}

function heardPart(role: string, part: Part): Lines {
  if (part.thought === true) return [thoughtLine(part.text ?? '', part.thoughtSignature ?? null)]
  const signed = part.thoughtSignature === undefined ? [] : [`signed ${part.thoughtSignature}`]
  if (part.text !== undefined) return part.text === '' ? signed : [...signed, `${role} text ${part.text}`]
  if (part.inlineData !== undefined) {
    const { mimeType = '', data } = part.inlineData
    const kind = /^(image|audio|video)\//.exec(mimeType)?.[1] ?? 'file'
    return [`${role} ${kind} ${mimeType} ${data}`]
  }
  if (part.fileData !== undefined) return [`${role} image ${part.fileData.fileUri}`]
  if (part.functionCall !== undefined)
    return [...signed, `assistant call ${part.functionCall.name} ${inOrder(part.functionCall.args ?? {})}`]
  const response = part.functionResponse
  return [`result ${response?.name} ${String(response?.response?.['output'])}`]
}

/** A thought and the signature that stands on the part behind it are one fact. */
const joined = (lines: Lines): Lines =>
  lines.flatMap((line, index) => {
    const [before, after] = [lines[index - 1] ?? '', lines[index + 1] ?? '']
    if (line.startsWith('signed ') && before.endsWith(' unsigned')) return []
    return line.endsWith(' unsigned') && after.startsWith('signed ') ? [line.replace(/unsigned$/, after.slice(7))] : [line]
  })

/** A schema in Google's own words, as JSON Schema. */
function plainSchema(schema: Schema): Readonly<Record<string, unknown>> {
  const { type, properties, items, ...rest } = schema
  return {
    ...rest,
    ...(type && { type: type.toLowerCase() }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, plainSchema(inner)])) }),
    ...(items && { items: plainSchema(items) }),
  }
}

type Asked = Readonly<{
  contents: readonly Content[]
  systemInstruction?: Content
  generationConfig?: GenerateContentConfig
  tools?: readonly { readonly functionDeclarations?: readonly { name?: string; parameters?: Schema; parametersJsonSchema?: unknown }[] }[]
}>

function heard({ json: body }: Received): Lines {
  const { contents, systemInstruction, generationConfig: config = {}, tools = [] } = body as unknown as Asked
  const schema = (config.responseJsonSchema ?? config.responseSchema) as Readonly<Record<string, unknown>> | undefined
  const thinking = config.thinkingConfig
  return [
    ...(systemInstruction?.parts ?? []).map(({ text }) => `system ${text}`),
    ...joined(
      contents.flatMap(({ role, parts = [] }) => parts.flatMap((part) => heardPart(role === 'model' ? 'assistant' : 'user', part))),
    ),
    ...heardOf({
      turns: [],
      tools: tools.flatMap(({ functionDeclarations = [] }) =>
        functionDeclarations.map(({ name = '', parameters, parametersJsonSchema: whole }) => ({
          name,
          parameters: (whole as Readonly<Record<string, unknown>> | undefined) ?? plainSchema(parameters ?? {}),
        })),
      ),
      ...(schema && { schema }),
      thinks: thinking !== undefined && thinking.thinkingBudget !== 0,
      ...(config.stopSequences && { stop: config.stopSequences.join(',') }),
      maxTokens: config.maxOutputTokens ?? -1,
    }),
  ]
}

const finishes = { stop: 'STOP', 'stop-sequence': 'STOP', length: 'MAX_TOKENS', 'tool-calls': 'STOP', 'content-filter': 'SAFETY' } as const

const wire = (parts: readonly Part[], say: Say | null): object => {
  const usage = say?.counts
  return {
    responseId: 'r1',
    modelVersion: 'gemini-2.5-flash',
    candidates: [{ index: 0, content: { role: 'model', parts: [...parts] }, ...(say && { finishReason: finishes[say.stop] as never }) }],
    ...(usage && {
      usageMetadata: {
        promptTokenCount: usage.input,
        cachedContentTokenCount: usage.cached,
        candidatesTokenCount: usage.output - usage.thought,
        thoughtsTokenCount: usage.thought,
        totalTokenCount: usage.input + usage.output,
      },
    }),
  } satisfies Wire
}

/** Thoughts are a summary; the signature stands on the part that follows them. */
function partsOf({ thought, text, calls = [] }: Say): readonly Part[] {
  const parts: Part[] = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args: { ...args } } })),
  ]
  const [first, ...rest] = parts
  if (thought === undefined || first === undefined) return parts
  return [{ text: thought.text, thought: true }, { ...first, thoughtSignature: thought.signature }, ...rest]
}

const framesOf = (say: Say): readonly object[] => [
  ...partsOf(say).flatMap((part) =>
    part.text === undefined || part.thought === true ? [wire([part], null)] : Array.from(part.text, (text) => wire([{ text }], null)),
  ),
  wire([{ text: '' }], say),
]

const isStream = ({ url }: Received) => url.includes(':streamGenerateContent')

/** Google's API for Gemini, at AI Studio and at Vertex AI. */
export const googleProvider: ProviderSide = {
  isStream,
  refusal: refusalOfGoogle,
  heard,
  whole: (say) => json(wire(partsOf(say), say)),
  stream: (say, { url }) =>
    url.includes('alt=sse') ? sse(framesOf(say).map((frame) => [null, frame] as const)) : json([...framesOf(say)]),
  error: (status, message) => ({ error: { code: status, message, status: 'INTERNAL' } }),
}
