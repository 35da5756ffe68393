import { Button } from '@mantine/core'
import { State } from '../../parts/state.tsx'
import type { Scope } from '../../shell/scope.ts'
import { Snippet } from './snippet.tsx'

interface NothingProps {
  readonly text: string
  readonly scope: Scope
  readonly onClear: () => void
  readonly onWiden: () => void
}

/** An empty list: of no traffic, or of a filter that nothing matches. */
export const Nothing = ({ text, scope, onClear, onWiden }: NothingProps) =>
  text === '' ? (
    <State title="No requests in this range.">
      <p>Send one through Gatehouse, and it is here a moment later.</p>
      <Snippet scope={scope} />
      <Button variant="default" onClick={onWiden}>
        Last 7 days
      </Button>
    </State>
  ) : (
    <State title="Nothing matches.">
      <p>
        No request in this range has <span className="text-of-data">{text}</span>.
      </p>
      <div className="row">
        <Button onClick={onClear}>Clear filters</Button>
        <Button variant="default" onClick={onWiden}>
          Last 7 days
        </Button>
      </div>
    </State>
  )
