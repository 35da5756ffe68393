import type { Fields } from '../../../lib/json/fields.ts'

/**
 * The kinds of fields of requests and answers; a field that is not in this list is read like `said`. `said`: text of a person or a model. `main`: the
 * same, and read after the fields beside it, so that the last text is the last word. `free`: a user's own values, whose names mean nothing to us;
 * `named`: the same, of objects whose fields mean something again. `token`: a name, a number of sorts, an address, a signature, media; only such a
 * value is skipped, for it cannot hold a text. `media`: it may be a text or not, which the fields beside it decide. `login`: never shown to a check.
 * `figures`: about a text.
 */
type Kind = 'said' | 'main' | 'free' | 'named' | 'token' | 'media' | 'login' | 'figures'

const names: Readonly<Record<Kind, string>> = {
  main: 'content parts text tool_calls',
  said: `arguments code cited_text data_text description input_text logs message output query reasoning reasoning_content refusal summary
    system thinking title transcript`,
  free: 'args input json response',
  named: '$defs definitions patternProperties properties variables',
  media: 'data result',
  login: 'authorization authorization_token headers',
  figures: 'logprobs logprobsResult',
  token: `id type role object model name status format kind mode phase version index scope method syntax strategy detail effort verbosity
    language domain category severity probability threshold container caller environment ttl $id $ref $schema $anchor required pattern
    mime_type mimeType media_type mediaType responseMimeType response_mime_type filename fileName file_name
    url uri fileUri file_uri file_url image image_url images mask video video_url videos audio_url source server_url server_label
    bytes b64_json b64 file_data partial_image_b64 blob embedding
    signature thoughtSignature thought_signature encrypted_content encrypted_index redactedContent redacted_content
    finish_reason finishReason native_finish_reason stop_reason stopReason stop_sequence system_fingerprint service_tier
    tool_choice reasoning_effort voice size quality style background output_format encoding_format response_format input_type truncation
    user safety_identifier prompt_cache_key prompt_cache_retention purpose training_file validation_file endpoint completion_window
    input_fidelity moderation include modalities responseModalities response_modalities timestamp_granularities embedding_types betas
    anthropic_version anthropic_beta allowed_tools allowed_domains blocked_domains allowed_callers propertyOrdering aspectRatio imageSize
    resolution ranker cachedContent cached_content modelVersion model_version created_at createdAt`,
}

const kinds: ReadonlyMap<string, string> = new Map(
  Object.entries(names).flatMap(([kind, list]) => list.split(/\s+/).map((name) => [name, kind] as const)),
)

/** Returns the kind of a field, by its name. */
export const kindOf = (name: string): string | undefined => kinds.get(name) ?? (endsInId.test(name) ? 'token' : undefined)

const endsInId = /(?:_ids?|[a-z]Ids?)$/

/** Returns whether a text in a field is data: a name or media, without words. */
export function isData(kind: string | undefined, text: string, beside: Fields): boolean {
  if (kind === 'token') return isToken(text)
  if (kind === 'media') return beside['type'] !== 'text' && isToken(text) && (text.length >= shortMedia || saysMedia(beside))
  if (kind === 'login') return saysServer(beside)
  return kind === undefined && text.length >= looked && base64.test(text.slice(0, looked)) && isToken(text)
}

/** Returns whether the content of a field is skipped. */
export const isClosed = (kind: string | undefined, beside: Fields): boolean =>
  kind === 'figures' || (kind === 'login' && saysServer(beside))

/** From this length on a text may be data by its looks alone. */
const looked = 512
const token = /^[\x21-\x7e]*$/
const base64 = /^(?:data:[^,\s]{1,100},)?[\w+/=-]*$/

/** A long run of letters without a space is no text. Long data may come in lines, as mails have it; words stand in shorter ones. */
export const isToken = (text: string): boolean =>
  text.length <= looked ? token.test(text) : !beyondData.test(text) && !(text.includes('\n') && shortLine.test(text))

/** One pass each: data is megabytes long. */
const beyondData = /[^\x21-\x7e\r\n]|\r(?!\n)/
const shortLine = /(?:^|\n)[^\n]{0,59}\n/

/** A shorter one counts as media only when it is declared to be. */
const shortMedia = 64

const saysMedia = ({ type, transcript, mimeType, mime_type: mime, media_type: media, format }: Fields): boolean =>
  type === 'base64' || type === 'redacted_thinking' || typeof (transcript ?? mimeType ?? mime ?? media ?? format) === 'string'

/** Servers of tools are described with their logins. */
const saysServer = ({ type }: Fields): boolean => type === 'mcp' || type === 'url'
