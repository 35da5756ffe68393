import type { LogPlace } from '../../gateway/ports/journal.ts'

export interface SpanKey {
  readonly organisationId: string
  readonly workspaceId: string
  readonly traceId: string
  readonly spanId: string
}

/** The place for which the details of a span are sealed: they open for no other. */
export const spanPlace = ({ organisationId, workspaceId, traceId, spanId }: SpanKey): LogPlace => ({
  id: `trace_spans ${workspaceId} ${traceId} ${spanId}`,
  organisationId,
  createdAt: 0,
})
