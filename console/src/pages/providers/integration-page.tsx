import { useNavigate, useParams } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { forget, useRead, useTagged } from '../../api/query.ts'
import { Page } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { may, useScope, type Scope } from '../../shell/scope.ts'
import { rightOn, type Integration } from './account.ts'
import { DeleteByName } from './delete-by-name.tsx'
import { IntegrationAccess } from './integration-access.tsx'
import { IntegrationChange } from './integration-change.tsx'
import { IntegrationModels } from './integration-models.tsx'
import { IntegrationOverview } from './integration-overview.tsx'
import { texts } from './texts.ts'
import { UsedBy } from './used-by.tsx'

/** One account at a provider: how it is reached, its models, prices, and who may use it. */
export function IntegrationPage() {
  const scope = useScope()
  const { slug = '' } = useParams({ strict: false }) as { slug?: string }
  return scope === null ? null : <Account key={slug} slug={slug} scope={scope} />
}

function Account({ slug, scope }: { readonly slug: string; readonly scope: Scope }) {
  const { data, error, refetch } = useTagged('GET /integrations/{slug}', {
    path: { slug },
    workspace: scope.workspace,
  })
  if (data === undefined)
    return (
      <Page title="Integration">
        {error === null ? <Loading rows={10} /> : <Failed what="integration" error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  const account = data.answer
  return (
    <Page title={account.name} tools={<Status {...lifeOf(account.status)} />}>
      <PageTabs
        label="Integration"
        tabs={[
          ['overview', 'Overview', () => <IntegrationOverview account={account} scope={scope} />],
          ['credential', 'Credential', () => <IntegrationChange read={data} scope={scope} />],
          ['models', 'Models', () => <IntegrationModels account={account} scope={scope} />],
          ...(account.type === 'organisation'
            ? [['workspaces', 'Workspaces', () => <IntegrationAccess account={account} scope={scope} />] as const]
            : []),
          ['users', 'Used by', () => <Users account={account} scope={scope} />],
        ]}
      />
    </Page>
  )
}

/** The things that use an account, and how to delete it once there are none but its own providers. */
function Users({ account, scope }: { readonly account: Integration; readonly scope: Scope }) {
  const navigate = useNavigate()
  const right = rightOn(account, 'delete')
  const { data, error, refetch } = useRead('GET /integrations/{slug}', {
    path: { slug: account.slug },
    workspace: scope.workspace,
    query: { include_used_by: 'true' },
  })
  if (data === undefined) return error === null ? <Loading rows={4} /> : <Failed what="list" error={error} onRetry={() => void refetch()} />
  return (
    <>
      <UsedBy users={data.used_by ?? []} />
      {may(scope, right) ? (
        <DeleteByName
          name={account.name}
          note="Its own providers go with it. It is refused while configs, prompts or other providers use it."
          onDelete={() => call('DELETE /integrations/{slug}', { path: { slug: account.slug }, workspace: scope.workspace })}
          onDone={() => {
            void forget('GET /integrations', 'GET /providers')
            void navigate({ to: '/org/integrations' as never })
          }}
        />
      ) : (
        <p className="hint">{texts.needs(right)}</p>
      )}
    </>
  )
}
