import { duration } from '../../api/figures.ts'
import { visible } from '../../parts/text-of-data.tsx'
import { attemptsOf, type Attempt, type Log } from './attempts.ts'
import type { LogProps } from './log-detail.tsx'

/** Why a request went where it did, in sentences, in the order in which it was decided. */
export function Why({ log, onOpen }: LogProps) {
  const { cached_log_id: cached, mirror_of: mirrored } = log.metrics
  return (
    <>
      <ol aria-label="Why" className="why">
        {sentencesOf(log).map((sentence, at) => (
          <li key={at} className="text-of-data">
            {visible(sentence)}
          </li>
        ))}
      </ol>
      {[
        [cached, 'The request whose answer was given again'],
        [mirrored, 'The request of which this is a copy'],
      ].map(
        ([id, label]) =>
          typeof id === 'string' && (
            <p key={label}>
              <button type="button" className="link" onClick={() => onOpen(id)}>
                {label}
              </button>
            </p>
          ),
      )}
    </>
  )
}

function sentencesOf(log: Log): readonly string[] {
  const attempts = attemptsOf(log)
  return [
    askedFor(log),
    configOf(log),
    ...hooksOf(log, 'before_request_hooks', 'before the call'),
    cacheOf(log),
    ...attempts.map((attempt, at) => attemptOf(attempt, { at, of: attempts.length })),
    attempts.length === 0 && log.metrics.cached_log_id === null ? 'No provider was reached.' : '',
    ...translationOf(log),
    ...hooksOf(log, 'after_request_hooks', 'of the answer'),
    endOf(log),
  ].filter((sentence) => sentence !== '')
}

function askedFor({ metrics }: Log): string {
  if (metrics.operation === 'inserted') return 'A client reported this call: it did not go through Gatehouse.'
  const by = metrics.api_key_name === null ? 'The request' : `The key "${metrics.api_key_name}"`
  const copy = metrics.mirror_of === null ? '' : ' It is a copy for a mirror.'
  return `${by} asked for ${metrics.operation}${metrics.ai_model === null ? '' : ` of ${metrics.ai_model}`}.${copy}`
}

function configOf({ metrics: { config, operation } }: Log): string {
  if (operation === 'inserted') return ''
  if (config === null) return 'No stored config decided: the request named its target, or brought a config of its own.'
  return `The config "${config.slug}"${config.version === null ? '' : ` in version ${config.version}`} decided on the target.`
}

const caches: Readonly<Record<string, string>> = {
  HIT: 'The cache had the answer.',
  'SEMANTIC HIT': 'The cache had an answer to a request that means the same.',
  MISS: 'The cache had no answer.',
  'SEMANTIC MISS': 'The cache had no answer to a request that means the same.',
  REFRESH: 'The cache was told to take a new answer.',
}
const cacheOf = ({ metrics: { cache_status: status } }: Log): string => caches[status ?? ''] ?? ''

function hooksOf({ hook_results: results }: Log, phase: 'before_request_hooks' | 'after_request_hooks', words: string): readonly string[] {
  const hooks = results?.[phase] ?? []
  return hooks.map((hook) => {
    const name = typeof hook['name'] === 'string' ? hook['name'] : String(hook['id'])
    if (hook['verdict'] === true) return `The guardrail "${name}" passed ${words}.`
    return `The guardrail "${name}" failed ${words}, and ${hook['deny'] === true ? 'refused it' : 'let it through'}.`
  })
}

/** The words for failures that a status alone does not distinguish. */
const failures: Readonly<Record<string, string>> = {
  network: 'the connection failed',
  timeout: 'it took too long',
  first_token_timeout: 'the first token took too long',
  stream_error: 'the stream broke',
  context_window: 'the request was too long for the model',
  content_policy: 'the provider refused the content',
  rate_limit: 'the provider was over its rate',
  guardrail: 'a guardrail refused the answer',
}

function attemptOf(attempt: Attempt, { at, of }: { readonly at: number; readonly of: number }): string {
  const { provider_slug: slug, provider, model, status, failure, error, duration_ms: took, option } = attempt
  const target = [slug === null ? provider : `@${slug}`, model].filter(Boolean).join(', ')
  const place = option === '' ? '' : ` (${option} of the config)`
  const reason = failure === null ? '' : `: ${failures[failure] ?? failure}`
  const said = error === null || error === '' ? '' : `. It said: ${error}`
  const next = at < of - 1 ? ' The next attempt followed.' : ''
  return `Attempt ${at + 1} at ${target || 'a target'}${place} ended with ${status}${took === null ? '' : ` after ${duration(took)}`}${reason}${said}.${next}`
}

const translationOf = ({ translation }: Log): readonly string[] =>
  translation === null
    ? []
    : [
        translation.dropped_params.length === 0
          ? ''
          : `The provider does not have these parameters, which were left out: ${translation.dropped_params.join(', ')}.`,
        translation.provider_error === null ? '' : `The provider's own words: ${translation.provider_error}`,
      ]

function endOf({ metrics: { outcome, response_status_code: status, error_code: code } }: Log): string {
  const reason = code === null ? '' : ` (${code})`
  if (outcome === 'client_closed') return 'The client left before the answer was whole.'
  if (outcome === 'incomplete') return `The answer was cut short${reason}.`
  return status < 400 ? `The answer went out with ${status}.` : `The request ended with ${status}${reason}.`
}
