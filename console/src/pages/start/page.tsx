import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { duration, listedCost } from '../../api/figures.ts'
import { forget, useRead } from '../../api/query.ts'
import { Copy } from '../../parts/copy.tsx'
import { Page } from '../../parts/page.tsx'
import { Fault, State } from '../../parts/state.tsx'
import { Status, statusOf } from '../../parts/status.tsx'
import { useAddress } from '../../shell/address.ts'
import { scopePath } from '../../shell/places.ts'
import { may, workspaceScope, type Scope } from '../../shell/scope.ts'
import { useMe } from '../../shell/session.tsx'
import { Snippet } from '../logs/snippet.tsx'
import { useTail, type Row } from '../logs/use-tail.ts'
import { IntegrationForm } from '../providers/add-integration.tsx'

const steps = [
  ['owner', 'Owner'],
  ['provider', 'Provider'],
  ['key', 'Key'],
  ['request', 'First request'],
] as const

/** Leads from an installation with an owner to its first logged request. */
export function StartPage() {
  const me = useMe()
  const [search, change] = useAddress()
  const [secret, setSecret] = useState<string | null>(null)
  const place = me.workspaces.find(({ id }) => id === me.default_workspace) ?? me.workspaces[0]
  if (place === undefined)
    return (
      <Page title="Set up Gatehouse">
        <State title="You have no workspace yet.">
          <p>Ask an admin of the organisation to add you to one.</p>
        </State>
      </Page>
    )
  const scope = workspaceScope(me, place)
  const step = steps.some(([id]) => id === search['step']) ? search['step'] : 'provider'
  const goTo = (to: string) => change({ step: to })
  return (
    <Page title="Set up Gatehouse">
      <ol className="steps" aria-label="Steps">
        {steps.map(([id, label], at) => (
          <li key={id} aria-current={id === step ? 'step' : undefined}>
            {at + 1} {label} {id === 'owner' && '✓'}
          </li>
        ))}
      </ol>
      <div className="stack form">
        {step === 'provider' && <ProviderStep scope={scope} onDone={() => goTo('key')} />}
        {step === 'key' && <KeyStep scope={scope} secret={secret} onMade={setSecret} onDone={() => goTo('request')} />}
        {step === 'request' && <RequestStep scope={scope} secret={secret} />}
      </div>
    </Page>
  )
}

interface StepProps {
  readonly scope: Scope
  readonly onDone: () => void
}

function ProviderStep({ scope, onDone }: StepProps) {
  const { data } = useRead('GET /providers', { workspace: scope.workspace, query: { workspace_id: scope.slug, page_size: 1 } })
  const [first] = data?.data ?? []
  if (!may(scope, 'workspace_integrations.create')) return <p>To add a provider you need workspace_integrations.create. Ask an owner.</p>
  return (
    <>
      {first !== undefined && (
        <div className="row">
          <span className="text-of-data">There is a provider already: @{first.slug}.</span>
          <Button onClick={onDone}>Go on with it</Button>
        </div>
      )}
      <IntegrationForm scope={scope} saveLabel="Save and continue" cancelLabel="Skip" onSaved={onDone} onCancel={onDone} />
    </>
  )
}

interface KeyStepProps extends StepProps {
  readonly secret: string | null
  readonly onMade: (secret: string) => void
}

const keyRights = ['completions.write', 'completions.read', 'prompts.render', 'logs.write', 'feedbacks.write']

function KeyStep({ scope, secret, onMade, onDone }: KeyStepProps) {
  const [once] = useState(newOnce)
  const make = useMutation<Answer<'POST /api-keys/{type}/{subType}'>, ApiFailure>({
    mutationFn: () =>
      call('POST /api-keys/{type}/{subType}', {
        path: { type: 'workspace', subType: 'service' },
        workspace: scope.workspace,
        once,
        body: { name: 'First application', scopes: keyRights.filter((right) => may(scope, right)) },
      }),
    onSuccess: ({ key }) => {
      void forget('GET /api-keys')
      onMade(key)
    },
  })
  if (secret === null)
    return (
      <>
        <p>A key lets an application call models through Gatehouse. This one may call models and nothing else.</p>
        <Fault error={make.error} />
        <div className="row">
          <Button loading={make.isPending} onClick={() => make.mutate()}>
            Create key
          </Button>
        </div>
      </>
    )
  return (
    <>
      <TextInput label="Your key" readOnly value={secret} onFocus={(event) => event.currentTarget.select()} />
      <p className="hint">It is shown this once and stored nowhere.</p>
      <div className="row">
        <Copy text={secret} label="Copy key" word="Copy key" />
        <Button onClick={onDone}>Continue</Button>
      </div>
    </>
  )
}

/** Models that answer cheaply, by the kind of provider. */
const cheapModels: Readonly<Record<string, string>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  google: 'gemini-2.5-flash',
  bedrock: 'amazon.nova-lite-v1:0',
}

/** Returns a model to begin with, of the first provider of a workspace. */
function useProposedModel(scope: Scope): string {
  const { data: providers } = useRead('GET /providers', { workspace: scope.workspace, query: { workspace_id: scope.slug, page_size: 1 } })
  const { data: accounts } = useRead('GET /integrations', { workspace: scope.workspace, query: { type: 'all', page_size: 50 } })
  const provider = providers?.data[0]
  const account = accounts?.data.find(({ id }) => id === provider?.integration_id)
  return `@${provider?.slug ?? 'handle'}/${cheapModels[account?.ai_provider_id ?? 'openai'] ?? 'model'}`
}

function RequestStep({ scope, secret }: { readonly scope: Scope; readonly secret: string | null }) {
  const [typed, setTyped] = useState<string | null>(null)
  const proposed = useProposedModel(scope)
  const model = typed ?? proposed
  const tail = useTail(true, scope, {})
  const row = tail.rows.at(-1)
  return (
    <>
      <TextInput label="Model" value={model} onChange={(event) => setTyped(event.currentTarget.value)} />
      <Snippet scope={scope} model={model} {...(secret !== null && { apiKey: secret })} />
      <div role="status" aria-label="First request" className="state">
        {row === undefined ? (
          <p>{tail.isOpen ? 'Listening for your first request…' : 'The stream is being opened.'}</p>
        ) : (
          <Answered row={row} scope={scope} />
        )}
      </div>
    </>
  )
}

const Answered = ({ row, scope }: { readonly row: Row; readonly scope: Scope }) => (
  <>
    <Status {...statusOf(row)} />
    <p className="text-of-data">
      {row.is_success ? 'Answered' : 'It failed, and its log says why'}: {row.ai_model ?? row.operation}, {duration(row.response_time)},{' '}
      {row.total_units ?? 0} tokens, {listedCost(row.cost_pico_usd, row.cost_state)}
    </p>
    <Link to={`${scopePath(scope)}/logs/${row.id}`}>Open the log</Link>
  </>
)
