import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { call, type Answer, type ApiFailure } from '../../api/client.ts'
import { Facts } from '../../parts/facts.tsx'
import { Fault } from '../../parts/state.tsx'
import { TimeOf } from '../../parts/time-of.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { rightOn, storedWords, type AccountProps, type Integration } from './account.ts'
import { labelOf } from './provider-fields.tsx'
import { TestResult } from './test-result.tsx'
import { texts } from './texts.ts'

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** An account in facts, and the test of its connection. */
export function IntegrationOverview({ account, scope }: AccountProps) {
  const { tags, configurations } = account
  return (
    <>
      <Facts
        facts={[
          ['Slug', account.slug],
          ['Provider', account.ai_provider_id],
          ['Belongs to', account.type],
          ['Description', account.description],
          ['Key', storedWords(account.masked_key)],
          ['Other secrets', account.secret_fields.map((name) => `${labelOf(name)}: stored`).join(', ')],
          ['Secret references', account.secret_mappings?.map((one) => `${one.target_field}: ${one.secret_reference_id}`).join(', ')],
          ...Object.entries(configurations)
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([name, value]) => [labelOf(name), shown(value)] as const),
          ['Workspaces', String(account.workspace_count)],
          ['Models', account.allow_all_models ? 'all but the disabled ones' : 'only the enabled ones'],
          [
            'Tags',
            Object.entries(tags ?? {})
              .map(([name, value]) => `${name}=${value}`)
              .join(', '),
          ],
          ['Made', <TimeOf key="made" iso={account.created_at} />],
          ['Changed', <TimeOf key="changed" iso={account.last_updated_at} />],
        ]}
      />
      <StoredTest account={account} scope={scope} />
    </>
  )
}

/** Tries a stored account step by step. */
export function StoredTest({ account, scope }: { readonly account: Pick<Integration, 'slug' | 'type'>; readonly scope: Scope }) {
  const right = rightOn(account, 'update')
  const test = useMutation<Answer<'POST /integrations/{slug}/test'>, ApiFailure>({
    mutationFn: () => call('POST /integrations/{slug}/test', { path: { slug: account.slug }, workspace: scope.workspace }),
  })
  if (!may(scope, right)) return <p className="hint">Test connection: {texts.needs(right)}</p>
  return (
    <div className="stack">
      <div className="row">
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test connection
        </Button>
      </div>
      <TestResult result={test.data} />
      <Fault error={test.error} />
    </div>
  )
}
