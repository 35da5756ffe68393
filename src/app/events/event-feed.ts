import type { ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { hearNotifications } from './hear.ts'
import { createNoticeMemory } from './memory.ts'
import { readNotice, type Notice } from './notice.ts'

/** A listener for events. */
export interface EventListener {
  heard(notice: Notice): void
  /** Notices may have been missed: all that was read before is in doubt. */
  missed(): void
  /** Reports at each change whether notices arrive at all. */
  live(isLive: boolean): void
  /** The process ends. */
  ended(): void
}

/** Receives the notices of all processes. It begins to listen with the first listener, over one connection of its own. */
export interface EventFeed {
  /** Returns how to stop listening. */
  listen(listener: EventListener): () => void
  /** Begins to listen, and resolves when it is known whether notices arrive. */
  ready(): Promise<void>
  /** Notices arrive: a pooler in front of the database may swallow them. */
  isLive(): boolean
  /** Returns the notices after a given one; null: that one is too old, or never arrived here. */
  since(token: string): readonly Notice[] | null
  listeners(): number
  /** Reports the end of the process to all listeners. */
  end(): void
  stop(): Promise<void>
}

/** Opens the feed; no connection is made yet. */
export function openEventFeed({ client, log }: { readonly client: ClientConfig; readonly log: Logger }): EventFeed {
  const listeners = new Set<EventListener>()
  const stopped = new AbortController()
  const memory = createNoticeMemory()
  const known = Promise.withResolvers<void>()
  let isLive = false
  let following: Promise<void> | null = null
  const tell = (act: (listener: EventListener) => void) => {
    for (const listener of listeners) act(listener)
  }
  const begin = () => {
    following ??= hearNotifications({
      client,
      log,
      signal: stopped.signal,
      heard(payload) {
        const notice = readNotice(payload)
        if (notice === null) return
        memory.add(notice, payload.length)
        tell((listener) => listener.heard(notice))
      },
      live(now) {
        known.resolve()
        if (now === isLive) return
        isLive = now
        tell((listener) => listener.live(now))
      },
      missed() {
        memory.clear()
        tell((listener) => listener.missed())
      },
    })
  }
  return {
    listen(listener) {
      listeners.add(listener)
      begin()
      return () => void listeners.delete(listener)
    },
    ready() {
      begin()
      return known.promise
    },
    isLive: () => isLive,
    since: (token) => memory.since(token),
    listeners: () => listeners.size,
    end: () => tell((listener) => listener.ended()),
    async stop() {
      stopped.abort()
      await following
    },
  }
}
