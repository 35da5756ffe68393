import type { ClientConfig, Pool } from 'pg'
import type { Logger } from 'pino'
import type { AnswerScope, CachedAnswer, KeptAnswer } from '../../gateway/cache/answer-store.ts'
import type { LogSeal } from '../../gateway/journal/log-seal.ts'
import { sidePool } from '../database/side-sessions.ts'
import { systemSession } from '../snapshot/change-feed.ts'
import { openAnswer, sealAnswer } from './sealed-answers.ts'

export interface StoredAnswersOptions {
  /** `Connection.runtime`. The cache has connections of its own, which are opened when the first config asks for a cache. */
  readonly client: ClientConfig
  readonly seal: LogSeal
  readonly log: Logger
}

/** Answers in PostgreSQL. A database that fails or is slow costs only cache hits. */
export interface StoredAnswers {
  get(key: string, scope: AnswerScope): Promise<CachedAnswer | null>
  put(key: string, scope: AnswerScope, kept: KeptAnswer): void
  /** Its connections, for the other tables of the cache. */
  pool(): Pool
  /** Answers that could not be kept. */
  dropped(): number
  stop(): Promise<void>
}

/** The longest wait for an answer: the provider would begin to answer by then. */
const patienceMs = 250
/** After a failure the database is left alone for so long. */
const pauseMs = 2000
/** Answers on their way to the database. */
const mostWaitingBytes = 16 * 1024 * 1024

interface Row {
  readonly answer: Buffer
  readonly age_ms: number
  readonly left_ms: number
}

interface State extends StoredAnswersOptions {
  pool: Pool | null
  pausedUntil: number
  waitingBytes: number
  dropped: number
}

export function openStoredAnswers(options: StoredAnswersOptions): StoredAnswers {
  const state: State = { ...options, pool: null, pausedUntil: 0, waitingBytes: 0, dropped: 0 }
  return {
    async get(key, scope) {
      if (performance.now() < state.pausedUntil) return null
      const { promise: late, resolve } = Promise.withResolvers<null>()
      const timer = setTimeout(resolve, patienceMs, null)
      const found = read(state, key, scope).catch((error: unknown) => failed(state, error))
      return Promise.race([found, late]).finally(() => clearTimeout(timer))
    },
    put: (key, scope, kept) => put(state, key, { ...kept, scope }),
    pool: () => connections(state),
    dropped: () => state.dropped,
    async stop() {
      await state.pool?.end().catch(() => {})
    },
  }
}

function connections(state: State): Pool {
  if (state.pool !== null) return state.pool
  return (state.pool = sidePool('answers', { ...systemSession(state.client), idleTimeoutMillis: 30_000 }, state.log))
}

function failed(state: State, error: unknown): null {
  if (performance.now() >= state.pausedUntil) state.log.debug({ err: error }, 'the cache of answers cannot use the database')
  state.pausedUntil = performance.now() + pauseMs
  return null
}

async function read(state: State, key: string, scope: AnswerScope): Promise<CachedAnswer | null> {
  const { rows } = await connections(state).query<Row>(newest, [key, scope.organisationId, scope.workspaceId])
  const [row] = rows
  if (row === undefined) return null
  const now = Date.now()
  const opened = openAnswer(state.seal, key, { scope, sealed: row.answer })
  return { ...opened, createdAt: now - row.age_ms, expiresAt: now + row.left_ms }
}

const newest = `
  SELECT answer, extract(epoch FROM now() - created_at)::float8 * 1000 AS age_ms, extract(epoch FROM expires_at - now())::float8 * 1000 AS left_ms
    FROM cached_answers WHERE key = $1 AND organisation_id = $2 AND workspace_id IS NOT DISTINCT FROM $3 AND expires_at > now()
   ORDER BY created_at DESC LIMIT 1`

type AnswerToStore = KeptAnswer & { readonly scope: AnswerScope }

function put(state: State, key: string, waiting: AnswerToStore): void {
  const bytes = waiting.answer.body.length
  if (performance.now() < state.pausedUntil || state.waitingBytes + bytes > mostWaitingBytes) {
    state.dropped += 1
    return
  }
  state.waitingBytes += bytes
  void write(state, key, waiting)
    .catch((error: unknown) => {
      state.dropped += 1
      failed(state, error)
    })
    .finally(() => (state.waitingBytes -= bytes))
}

async function write(state: State, key: string, { scope, answer, askedAt }: AnswerToStore): Promise<void> {
  const { organisationId, workspaceId, namespace } = scope
  const sealed = sealAnswer(state.seal, key, { scope, answer })
  const times = [performance.now() - askedAt, answer.expiresAt - Date.now()]
  await connections(state).query('SELECT keep_answer($1, $2, $3, $4, $5, $6, $7)', [
    key,
    organisationId,
    workspaceId,
    namespace,
    ...times,
    sealed,
  ])
}
