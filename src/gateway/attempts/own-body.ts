import { exactJson } from '../../lib/json/exact-json.ts'
import { withoutForeignReasoning as withoutForeignBlocks } from '../dialects/anthropic/own-fields.ts'
import { mayHoldVendorLines, withoutVendorLines } from '../dialects/anthropic/vendor-lines.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { mayHoldCarriers, withoutCarriers } from '../dialects/google/own-fields.ts'
import type { Loss } from '../dialects/neutral/loss.ts'
import { mayHoldSignatures } from '../dialects/neutral/signature.ts'
import { mayHoldOwnFields, withoutOwnFields } from '../dialects/openai-chat/own-fields.ts'
import { withoutForeignReasoning } from '../dialects/openai-responses/own-fields.ts'
import type { Traits } from '../dialects/traits.ts'
import { withOwnOptions } from '../dialects/provider-options.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Target } from '../targets/target.ts'
import type { RequestBody } from '../wire/body.ts'

/** The provider that speaks the caller's dialect itself, and its model. */
export interface OwnReader {
  readonly traits: Traits
  readonly model: string | null
}

/** The way in which a body is read, and the losses on it. */
export interface BodyReading {
  readonly dialect: DialectId
  readonly to: OwnReader
  /** True if it goes to the API of the vendor that made the dialect. */
  readonly atVendor: boolean
  readonly loss: Loss
}

/** The parts of a request that a client carries of answers in other dialects, or for its own vendor: how they are seen in a body, and taken out. */
export interface OwnFields {
  readonly mayHold: (bytes: Buffer, reading: Pick<BodyReading, 'to' | 'atVendor'>) => boolean
  /** True: a custom host in OpenAI's dialect gets it, since it may be a gateway that supports those fields. */
  readonly staysAtOwnHosts: boolean
  readonly without: (body: Fields, reading: Omit<BodyReading, 'dialect'>) => Fields
}

export const ownFields: Readonly<Partial<Record<DialectId, OwnFields>>> = {
  'openai-chat': {
    mayHold: (bytes, { to }) => mayHoldOwnFields(bytes, to.traits.toolIds),
    staysAtOwnHosts: true,
    without: (body, { to, loss }) => withoutOwnFields(body, to.traits, loss),
  },
  'openai-responses': {
    mayHold: mayHoldSignatures,
    staysAtOwnHosts: false,
    without: (body, { loss }) => withoutForeignReasoning(body, loss),
  },
  anthropic: {
    mayHold: (bytes, { atVendor }) => mayHoldSignatures(bytes) || (!atVendor && mayHoldVendorLines(bytes)),
    staysAtOwnHosts: false,
    without: (body, { atVendor, loss }) => withoutForeignBlocks(atVendor ? body : withoutVendorLines(body), loss),
  },
  google: {
    mayHold: mayHoldCarriers,
    staysAtOwnHosts: false,
    without: (body, { to, loss }) => withoutCarriers(body, to.model ?? '', loss),
  },
}

/** Returns true if a call goes to Anthropic itself, and not to another host that speaks as it does. */
export const isAtVendor = ({ providerId, customHost }: Pick<Target, 'providerId' | 'customHost'>): boolean =>
  providerId === 'anthropic' && (customHost === null || /^https:\/\/(?:[\w-]+\.)*anthropic\.com(?:[:/]|$)/i.test(customHost.url))

/** Returns a body without the fields for providers of other dialects, and without the parts of their answers that its client carries. */
export function ownBody(body: RequestBody, reading: BodyReading): RequestBody {
  if (!isFields(body.json) || body.bytes === null) return body
  const json = ownJson(body.json, body.bytes, reading)
  return json === body.json ? body : { ...body, json, bytes: Buffer.from(exactJson(json)) }
}

/** The same for the value parsed from `bytes`, whose parameters may have got other names since. */
export function ownJson(json: Fields, bytes: Buffer, reading: BodyReading): Fields {
  const plain = withOwnOptions(json, reading.dialect)
  const own = ownFields[reading.dialect]
  return own?.mayHold(bytes, reading) === true ? own.without(plain, reading) : plain
}
