import { withoutForeignReasoning as withoutForeignBlocks } from '../dialects/anthropic/own-fields.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { mayHoldCarriers, withoutCarriers } from '../dialects/google/own-fields.ts'
import type { Loss } from '../dialects/neutral/loss.ts'
import { mayHoldSignatures } from '../dialects/neutral/signature.ts'
import { mayHoldOwnFields, withoutOwnFields } from '../dialects/openai-chat/own-fields.ts'
import { withoutForeignReasoning } from '../dialects/openai-responses/own-fields.ts'
import type { Traits } from '../dialects/traits.ts'
import { withOwnOptions } from '../dialects/translate.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { RequestBody } from '../wire/body.ts'

/** The provider that speaks the caller's dialect itself, and its model. */
export interface OwnReader {
  readonly traits: Traits
  readonly model: string | null
}

/** The parts of a request that a client carries of answers in other dialects: how they are seen in a body, and taken out. */
export interface OwnFields {
  readonly mayHold: (bytes: Buffer, toolIds: Traits['toolIds']) => boolean
  /** True: a host of one's own that speaks as OpenAI does gets it, since it may be a gateway that knows those fields. */
  readonly staysAtOwnHosts: boolean
  readonly without: (body: Fields, to: OwnReader, loss: Loss) => Fields
}

export const ownFields: Readonly<Partial<Record<DialectId, OwnFields>>> = {
  'openai-chat': {
    mayHold: mayHoldOwnFields,
    staysAtOwnHosts: true,
    without: (body, { traits }, loss) => withoutOwnFields(body, traits, loss),
  },
  'openai-responses': {
    mayHold: mayHoldSignatures,
    staysAtOwnHosts: false,
    without: (body, _, loss) => withoutForeignReasoning(body, loss),
  },
  anthropic: {
    mayHold: mayHoldSignatures,
    staysAtOwnHosts: false,
    without: (body, _, loss) => withoutForeignBlocks(body, loss),
  },
  google: {
    mayHold: mayHoldCarriers,
    staysAtOwnHosts: false,
    without: (body, { model }, loss) => withoutCarriers(body, model ?? '', loss),
  },
}

/** The way in which a body is read, and what is lost on it. */
export interface Reading {
  readonly dialect: DialectId
  readonly to: OwnReader
  readonly loss: Loss
}

/** Returns a body without the fields for providers of other dialects, and without what its client carries of their answers. */
export function ownBody(body: RequestBody, reading: Reading): RequestBody {
  if (!isFields(body.json) || body.bytes === null) return body
  const json = ownJson(body.json, body.bytes, reading)
  return json === body.json ? body : { ...body, json, bytes: Buffer.from(JSON.stringify(json)) }
}

/** The same for what was parsed of `bytes`, whose parameters may have got other names since. */
export function ownJson(json: Fields, bytes: Buffer, { dialect, to, loss }: Reading): Fields {
  const plain = withOwnOptions(json, dialect)
  const own = ownFields[dialect]
  return own?.mayHold(bytes, to.traits.toolIds) === true ? own.without(plain, to, loss) : plain
}
