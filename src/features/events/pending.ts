import type { ChangeNotice, Notice } from '../../app/events/notice.ts'
import type { Topic } from './events.schema.ts'

/** The notices that a stream has received and not sent yet. They are bounded: further ones are only counted. */
export interface PendingNotices {
  /** Takes a notice in. */
  add(notice: Notice): void
  /** Returns all waiting notices, and forgets them; null: there are none. */
  take(): NoticeBatch | null
}

export interface NoticeBatch {
  /** The notice up to which everything is among these. */
  readonly token: string
  readonly logs: readonly string[]
  readonly changes: readonly ChangeNotice[]
  readonly exports: readonly string[]
  readonly dropped: Readonly<Record<Topic, number>>
}

export interface StreamInterest {
  readonly organisationId: string
  /** Null: of all workspaces. */
  readonly workspaceId: string | null
  readonly topics: ReadonlySet<Topic>
}

/** The most of each topic that one batch holds. */
export const mostInBatch = { 'logs.tail': 100, changes: 100, exports: 100 } as const satisfies Readonly<Record<Topic, number>>

/** Returns a bounded memory for the topics of one organisation, or of one of its workspaces. */
export function createPending({ organisationId, workspaceId, topics }: StreamInterest): PendingNotices {
  let logs: string[] = []
  let changes: ChangeNotice[] = []
  let exports = new Set<string>()
  let dropped = { 'logs.tail': 0, changes: 0, exports: 0 }
  let token: string | null = null
  return {
    add(notice) {
      if (notice.organisationId !== organisationId || !topics.has(notice.topic)) return
      if (workspaceId !== null && 'workspaceId' in notice && notice.workspaceId !== workspaceId) return
      token = notice.token
      if (notice.topic === 'logs.tail') {
        // The newest ones are those that a watching person wants to see.
        logs.push(...notice.ids)
        const over = Math.max(0, logs.length - mostInBatch['logs.tail'])
        logs.splice(0, over)
        dropped['logs.tail'] += over
      } else if (notice.topic === 'changes') {
        if (changes.length < mostInBatch.changes) changes.push(notice)
        else dropped.changes += 1
      } else if (exports.has(notice.id) || exports.size < mostInBatch.exports) exports.add(notice.id)
      else dropped.exports += 1
    },
    take() {
      if (token === null) return null
      const taken = { token, logs, changes, exports: [...exports], dropped }
      logs = []
      changes = []
      exports = new Set()
      dropped = { 'logs.tail': 0, changes: 0, exports: 0 }
      token = null
      return taken
    },
  }
}
