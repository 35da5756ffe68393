import type { Notice } from './notice.ts'

/** The notices of the last minute, for streams that come back after a break. */
export interface NoticeMemory {
  add(notice: Notice, length: number): void
  /** Returns the notices after a given one; null: that one is unknown. */
  since(token: string): readonly Notice[] | null
  clear(): void
}

interface NoticeEntry {
  readonly notice: Notice
  readonly at: number
  readonly length: number
}

const keptMs = 60_000
/** The bound of all texts, in characters. */
const mostKept = 8 * 1024 * 1024

/** Returns an empty memory. It is bounded in time and in bytes. */
export function createNoticeMemory(): NoticeMemory {
  let kept: NoticeEntry[] = []
  let total = 0
  /** The place of the oldest one that counts: moving all at each notice would cost more. */
  let first = 0
  const forget = () => {
    const from = performance.now() - keptMs
    for (let oldest = kept[first]; oldest !== undefined && (oldest.at < from || total > mostKept); oldest = kept[first]) {
      total -= oldest.length
      first += 1
    }
    if (first > 1000) {
      kept = kept.slice(first)
      first = 0
    }
  }
  return {
    add(notice, length) {
      kept.push({ notice, at: performance.now(), length })
      total += length
      forget()
    },
    since(token) {
      forget()
      const at = kept.findIndex(({ notice }, index) => index >= first && notice.token === token)
      return at === -1 ? null : kept.slice(at + 1).map(({ notice }) => notice)
    },
    clear() {
      kept = []
      total = 0
      first = 0
    },
  }
}
