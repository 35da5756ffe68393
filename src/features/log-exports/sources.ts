import type { Deps } from '../../app/deps.ts'
import type { ClaimedExport, Progress } from './claims.ts'
import { chosenFields, typeOf } from './export-fields.ts'
import { focusColumns } from './focus/columns.ts'
import { readPeriods } from './focus/focus-rows.ts'
import type { LogExport } from './log-export.entity.ts'
import { readPage, type RowPage } from './log-rows.ts'
import type { Column } from './pieces.ts'

/** The rows of an export. */
export interface Source {
  readonly columns: readonly Column[]
  /** Reads the rows that come next, as many as one look gives. */
  readonly next: (from: Progress | null) => Promise<RowPage>
}

const sources: Readonly<Record<LogExport['kind'], (deps: Deps, claimed: ClaimedExport) => Source>> = {
  logs(deps, claimed) {
    const fields = chosenFields(claimed.fields)
    return {
      columns: fields.map((name) => ({ name, type: typeOf(name) })),
      next: (from) => readPage(deps, claimed, { fields, from }),
    }
  },
  focus: (deps, claimed) => ({ columns: focusColumns, next: (from) => readPeriods(deps, claimed, from) }),
}

/** Returns where the rows of an export come from. */
export const sourceOf = (deps: Deps, claimed: ClaimedExport): Source => sources[claimed.kind](deps, claimed)
