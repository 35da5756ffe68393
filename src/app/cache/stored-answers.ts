import type { Logger } from 'pino'
import type { AnswerScope, CachedAnswer, KeptAnswer } from '../../gateway/ports/cache.ts'
import type { LogSeal } from '../../gateway/ports/journal.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { createSpareWork, type SpareWork } from '../database/spare-work.ts'
import { openAnswer, sealAnswer } from './sealed-answers.ts'

export interface StoredAnswersOptions {
  readonly side: SidePool
  readonly seal: LogSeal
  readonly log: Logger
}

/** Answers in PostgreSQL. A database that fails or is slow costs only cache hits. */
export interface StoredAnswers {
  get(key: string, scope: AnswerScope): Promise<CachedAnswer | null>
  put(key: string, scope: AnswerScope, kept: KeptAnswer): void
  /** Answers that could not be kept. */
  dropped(): number
}

/** Answers on their way to the database. */
const mostWaitingBytes = 16 * 1024 * 1024

interface Row {
  readonly answer: Buffer
  readonly age_ms: number
  readonly left_ms: number
}

interface State extends Pick<StoredAnswersOptions, 'seal'> {
  readonly connections: SideConnections
  readonly work: SpareWork
  waitingBytes: number
  dropped: number
}

export function openStoredAnswers({ side, seal, log }: StoredAnswersOptions): StoredAnswers {
  const work = createSpareWork(log, 'the cache of answers cannot use the database')
  const state: State = { seal, connections: side.of('answers'), work, waitingBytes: 0, dropped: 0 }
  return {
    get: (key, scope) => work.resultOf(() => read(state, key, scope), null),
    put: (key, scope, kept) => put(state, key, { ...kept, scope }),
    dropped: () => state.dropped,
  }
}

async function read(state: State, key: string, scope: AnswerScope): Promise<CachedAnswer | null> {
  const { rows } = await state.connections.query<Row>(newest, [key, scope.organisationId, scope.workspaceId])
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
  if (state.work.paused() || state.waitingBytes + bytes > mostWaitingBytes) {
    state.dropped += 1
    return
  }
  state.waitingBytes += bytes
  void write(state, key, waiting)
    .catch((error: unknown) => {
      state.dropped += 1
      state.work.failed(error)
    })
    .finally(() => (state.waitingBytes -= bytes))
}

async function write(state: State, key: string, { scope, answer, askedAt }: AnswerToStore): Promise<void> {
  const { organisationId, workspaceId, namespace } = scope
  const sealed = sealAnswer(state.seal, key, { scope, answer })
  const times = [performance.now() - askedAt, answer.expiresAt - Date.now()]
  await state.connections.query('SELECT keep_answer($1, $2, $3, $4, $5, $6, $7)', [
    key,
    organisationId,
    workspaceId,
    namespace,
    ...times,
    sealed,
  ])
}
