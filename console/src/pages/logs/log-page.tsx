import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { scopePath } from '../../shell/places.ts'
import { useScope } from '../../shell/scope.ts'
import { useZone } from '../../shell/zone.ts'
import { LogContents } from './log-panel.tsx'

/** Shows one log as a page of its own. */
export function LogPage() {
  const scope = useScope()
  const [zone] = useZone()
  const { logId = '' } = useParams({ strict: false }) as { logId?: string }
  const navigate = useNavigate()
  if (scope === null) return null
  const open = (id: string) => void navigate({ to: `${scopePath(scope)}/logs/${id}` as never, search: { tab: 'trace' } as never })
  return (
    <Page title="Log" tools={<Link to={`${scopePath(scope)}/logs` as never}>All logs</Link>}>
      <LogContents id={logId} scope={scope} zone={zone} row={undefined} onOpen={open} />
    </Page>
  )
}
