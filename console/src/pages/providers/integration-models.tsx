import { Button, Checkbox, Switch, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call, type Answer, type ApiFailure, type Asked } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { DataGrid, type Column } from '../../parts/data-grid.tsx'
import { ChangesBar } from '../../parts/form/changes-bar.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { Failed, Loading, State } from '../../parts/state.tsx'
import { may } from '../../shell/scope.ts'
import { rightOn, type AccountProps } from './account.ts'
import { ExplainPrice } from './explain-price.tsx'
import { texts } from './texts.ts'

type Models = Answer<'GET /integrations/{slug}/models'>
type Model = Models['models'][number]
type Update = Asked<'PUT /integrations/{slug}/models'>['body']['models'][number]

/** A model as it is to be: the stored one with what was changed here. */
interface Row {
  readonly slug: string
  readonly enabled: boolean
  readonly input: string
  readonly output: string
  readonly isCustom: boolean
  readonly name: string
}

const priceIn = (config: Model['pricing_config'], unit: string): string => {
  const rates = config?.['pay_as_you_go'] as Readonly<Record<string, { readonly price?: number }>> | undefined
  const price = rates?.[unit]?.price
  return price === undefined ? '' : String(price)
}

const rowOf = (model: Model): Row => ({
  slug: model.slug,
  name: model.name,
  enabled: model.enabled,
  input: priceIn(model.pricing_config, 'request_token'),
  output: priceIn(model.pricing_config, 'response_token'),
  isCustom: model.is_custom,
})

/** The models of an account: which may be used, and at which prices. */
export function IntegrationModels({ account, scope }: AccountProps) {
  const { data, error, refetch } = useRead('GET /integrations/{slug}/models', { path: { slug: account.slug }, workspace: scope.workspace })
  const [revision, setRevision] = useState(0)
  if (data === undefined) return error === null ? <Loading rows={8} /> : <Failed what="list" error={error} onRetry={() => void refetch()} />
  return (
    <ModelList
      key={revision}
      stored={data}
      account={account}
      scope={scope}
      said={revision > 0 ? texts.saved : ''}
      onSaved={() => setRevision(revision + 1)}
    />
  )
}

interface ModelListProps extends AccountProps {
  readonly stored: Models
  readonly said: string
  readonly onSaved: () => void
}

/** The changes of the list that are not stored yet. */
interface Draft {
  readonly all: boolean
  readonly rows: readonly Row[]
  readonly removed: readonly string[]
}

function useModelDraft({ stored, account, scope, onSaved }: Omit<ModelListProps, 'said'>) {
  const before = new Map(stored.models.map((model) => [model.slug, rowOf(model)]))
  const start: Draft = { all: stored.allow_all_models, rows: [...before.values()], removed: [] }
  const [draft, setDraft] = useState(start)
  const changed = draft.rows.filter((row) => JSON.stringify(row) !== JSON.stringify(before.get(row.slug)))
  const isRuleChanged = draft.all !== stored.allow_all_models
  const target = { path: { slug: account.slug }, workspace: scope.workspace }
  const save = useMutation<unknown, ApiFailure>({
    mutationFn: async () => {
      const models = changed.map((row) => updateOf(row, before.get(row.slug)))
      if (models.length > 0 || isRuleChanged)
        await call('PUT /integrations/{slug}/models', {
          ...target,
          body: { models, ...(isRuleChanged && { allow_all_models: draft.all }) },
        })
      if (draft.removed.length > 0) await call('DELETE /integrations/{slug}/models', { ...target, body: { models: draft.removed } })
    },
    onSuccess: async () => {
      await forget('GET /integrations/{slug}', 'GET /integrations/{slug}/models')
      onSaved()
    },
  })
  const set = (slug: string, change: Partial<Row>) =>
    setDraft((former) => ({ ...former, rows: former.rows.map((row) => (row.slug === slug ? { ...row, ...change } : row)) }))
  const cancel = () => {
    setDraft(start)
    save.reset()
  }
  return { draft, setDraft, set, save, cancel, count: changed.length + draft.removed.length + (isRuleChanged ? 1 : 0) }
}

/** Returns a model as the API takes it; prices that stay are not sent. */
function updateOf({ slug, enabled, input, output, isCustom }: Row, before: Row | undefined): Update {
  const isPriced = input !== (before?.input ?? '') || output !== (before?.output ?? '')
  const rates = {
    ...(input !== '' && { request_token: { price: Number(input) } }),
    ...(output !== '' && { response_token: { price: Number(output) } }),
  }
  const isEmpty = input === '' && output === ''
  return {
    slug,
    enabled,
    ...(before === undefined && { is_custom: isCustom }),
    ...(isPriced && { pricing_config: isEmpty ? null : { type: 'static', pay_as_you_go: rates } }),
  }
}

/** Returns a test of names by a pattern in which `*` stands for anything. */
const matching = (pattern: string) => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

function ModelList(props: ModelListProps) {
  const { account, scope } = props
  const { draft, setDraft, set, save, cancel, count } = useModelDraft(props)
  const [text, setText] = useState('')
  const [explained, setExplained] = useState<string | null>(null)
  const mayChange = may(scope, rightOn(account, 'update'))
  const rows = draft.rows.filter(({ slug, name }) => `${slug} ${name}`.toLowerCase().includes(text.toLowerCase()))
  const remove = (slug: string) =>
    setDraft({ ...draft, rows: draft.rows.filter((row) => row.slug !== slug), removed: [...draft.removed, slug] })
  const enable = (pattern: string, enabled: boolean) => {
    const fits = matching(pattern)
    setDraft({ ...draft, rows: draft.rows.map((row) => (fits.test(row.slug) ? { ...row, enabled } : row)) })
  }
  const columns = columnsOf({ mayChange, set, remove, explain: setExplained })
  return (
    <>
      {!mayChange && <p className="hint">{texts.needs(rightOn(account, 'update'))}</p>}
      <Switch
        label="Requests may use models that are not listed here"
        disabled={!mayChange}
        checked={draft.all}
        onChange={(event) => setDraft({ ...draft, all: event.currentTarget.checked })}
      />
      <SearchBox text={text} onChange={setText} />
      {mayChange && <AddModel known={draft.rows} onAdd={(row) => setDraft({ ...draft, rows: [row, ...draft.rows] })} onPattern={enable} />}
      {rows.length === 0 ? (
        <State title={text === '' ? texts.noModels[0] : 'Nothing matches.'}>
          <p>{text === '' ? texts.noModels[1] : 'No model has this in its name.'}</p>
        </State>
      ) : (
        <DataGrid label="Models" columns={columns} rows={rows} idOf={({ slug }) => slug} rowHeight={44} />
      )}
      {mayChange && (
        <ChangesBar
          count={count}
          error={save.error}
          isSaving={save.isPending}
          said={props.said}
          onSave={() => save.mutate()}
          onCancel={cancel}
        />
      )}
      <ExplainPrice provider={account.ai_provider_id} model={explained} workspace={scope.workspace} onClose={() => setExplained(null)} />
    </>
  )
}

interface ColumnActions {
  readonly mayChange: boolean
  readonly set: (slug: string, change: Partial<Row>) => void
  readonly remove: (slug: string) => void
  readonly explain: (slug: string) => void
}

const columnsOf = ({ mayChange, set, remove, explain }: ColumnActions): readonly Column<Row>[] => [
  {
    id: 'enabled',
    label: 'Enabled',
    width: 80,
    cell: ({ slug, enabled }) => (
      <Checkbox
        aria-label={`Enable ${slug}`}
        disabled={!mayChange}
        checked={enabled}
        onChange={(event) => set(slug, { enabled: event.currentTarget.checked })}
      />
    ),
  },
  { id: 'slug', label: 'Model', width: 260, cell: ({ slug }) => slug },
  { id: 'custom', label: 'Kind', width: 90, cell: ({ isCustom }) => (isCustom ? 'custom' : 'listed') },
  ...(['input', 'output'] as const).map((side) => ({
    id: side,
    label: side === 'input' ? 'Input, $ a million' : 'Output, $ a million',
    width: 150,
    cell: (row: Row) => (
      <TextInput
        aria-label={`${side === 'input' ? 'Input' : 'Output'} price of ${row.slug}`}
        placeholder="as listed"
        inputMode="decimal"
        pattern="\d+(\.\d+)?"
        disabled={!mayChange}
        value={row[side]}
        onChange={(event) => set(row.slug, { [side]: event.currentTarget.value })}
      />
    ),
  })),
  {
    id: 'actions',
    label: 'Actions',
    width: 220,
    cell: ({ slug }) => (
      <>
        <Button variant="default" aria-label={`Explain price of ${slug}`} onClick={() => explain(slug)}>
          Explain price
        </Button>{' '}
        {mayChange && (
          <Button variant="default" aria-label={`Forget ${slug}`} onClick={() => remove(slug)}>
            Forget
          </Button>
        )}
      </>
    ),
  },
]

interface AddModelProps {
  readonly known: readonly Row[]
  readonly onAdd: (row: Row) => void
  readonly onPattern: (pattern: string, enabled: boolean) => void
}

/** Adds a model by its name, or switches all those that a pattern names. */
function AddModel({ known, onAdd, onPattern }: AddModelProps) {
  const [slug, setSlug] = useState('')
  const [isCustom, setCustom] = useState(false)
  const isPattern = slug.includes('*')
  const isKnown = known.some((row) => row.slug === slug)
  const add = (event: FormEvent) => {
    event.preventDefault()
    if (slug === '' || isPattern || isKnown) return
    onAdd({ slug, name: slug, enabled: true, input: '', output: '', isCustom })
    setSlug('')
  }
  return (
    <form className="row" onSubmit={add}>
      <TextInput
        label="Model or pattern"
        placeholder="gpt-4o, or gpt-4*"
        autoComplete="off"
        value={slug}
        onChange={(event) => setSlug(event.currentTarget.value.trim())}
      />
      {isPattern ? (
        <>
          <Button variant="default" onClick={() => onPattern(slug, true)}>
            Enable matching
          </Button>
          <Button variant="default" onClick={() => onPattern(slug, false)}>
            Disable matching
          </Button>
        </>
      ) : (
        <>
          <Checkbox label="Custom" checked={isCustom} onChange={(event) => setCustom(event.currentTarget.checked)} />
          <Button type="submit" variant="default" disabled={slug === '' || isKnown}>
            Add model
          </Button>
        </>
      )}
    </form>
  )
}
