import { Button, Checkbox, Modal, Switch } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Answer, type ApiFailure, type Asked } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { DataGrid, type Column } from '../../parts/data-grid.tsx'
import { BudgetFields, budgetLabels, budgetOfFields, typedBudget, type TypedBudget } from '../../parts/form/budget-field.tsx'
import { ChangesBar } from '../../parts/form/changes-bar.tsx'
import { Faulty } from '../../parts/form/faults.tsx'
import { RatesField, ratesOf, rateWords, typedRates, type TypedRate } from '../../parts/form/rates-field.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { Failed, Loading, State } from '../../parts/state.tsx'
import { may } from '../../shell/scope.ts'
import { rightOn, type AccountProps } from './account.ts'
import { texts } from './texts.ts'

type Access = Answer<'GET /integrations/{slug}/workspaces'>
type Place = Answer<'GET /admin/workspaces'>['data'][number]
type Change = Asked<'PUT /integrations/{slug}/workspaces'>['body']
type Grant = NonNullable<Change['workspaces']>[number]

/** A workspace and its access, as it is to be. */
interface Row {
  readonly id: string
  readonly name: string
  readonly slug: string
  /** Null: it has what all workspaces have. */
  readonly enabled: boolean | null
  readonly budget: TypedBudget
  readonly rates: readonly TypedRate[]
}

/** The workspaces that may use an account, and within which limits. */
export function IntegrationAccess({ account, scope }: AccountProps) {
  const [revision, setRevision] = useState(0)
  const access = useRead('GET /integrations/{slug}/workspaces', { path: { slug: account.slug } })
  const places = useRead('GET /admin/workspaces', { query: { page_size: 1000, status: 'active' } })
  const error = access.error ?? places.error
  if (access.data === undefined || places.data === undefined)
    return error === null ? (
      <Loading rows={8} />
    ) : (
      <Failed what="list" error={error} onRetry={() => void (access.error === null ? places.refetch() : access.refetch())} />
    )
  return (
    <AccessList
      key={revision}
      stored={access.data}
      places={places.data.data}
      account={account}
      scope={scope}
      said={revision > 0 ? texts.saved : ''}
      onSaved={() => setRevision(revision + 1)}
    />
  )
}

interface AccessListProps extends AccountProps {
  readonly stored: Access
  readonly places: readonly Place[]
  readonly said: string
  readonly onSaved: () => void
}

function rowsOf({ workspaces }: Access, places: readonly Place[]): readonly Row[] {
  const granted = new Map(workspaces.map((one) => [one.id, one]))
  return places.map(({ id, name, slug }) => {
    const grant = granted.get(id)
    return {
      id,
      name,
      slug,
      enabled: grant?.enabled ?? null,
      budget: typedBudget(grant?.usage_limits?.[0]),
      rates: typedRates(grant?.rate_limits ?? null),
    }
  })
}

/** Returns a workspace as the API takes it; limits that stay are not sent. */
function grantOf(row: Row, before: Row | undefined, isForAll: boolean): Grant {
  const budget = budgetOfFields(row.budget)
  const rates = ratesOf<NonNullable<Grant['rate_limits']>[number]>(row.rates)
  return {
    id: row.id,
    enabled: row.enabled ?? isForAll,
    ...(isOther(row.budget, before?.budget) && { usage_limits: budget === null ? [] : [budget] }),
    ...(isOther(row.rates, before?.rates) && { rate_limits: rates ?? [] }),
  }
}

const isOther = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other)

function useAccess({ stored, places, account, onSaved }: Omit<AccessListProps, 'said'>) {
  const start = rowsOf(stored, places)
  const wasForAll = stored.global_workspace_access?.enabled === true
  const [rows, setRows] = useState(start)
  const [isForAll, setForAll] = useState(wasForAll)
  const before = new Map(start.map((row) => [row.id, row]))
  const changed = rows.filter((row) => isOther(row, before.get(row.id)))
  const save = useMutation<unknown, ApiFailure>({
    mutationFn: () =>
      call('PUT /integrations/{slug}/workspaces', {
        path: { slug: account.slug },
        body: {
          ...(changed.length > 0 && { workspaces: changed.map((row) => grantOf(row, before.get(row.id), isForAll)) }),
          ...(isForAll !== wasForAll && { global_workspace_access: { enabled: isForAll } }),
        },
      }),
    onSuccess: async () => {
      await forget('GET /integrations/{slug}', 'GET /integrations/{slug}/workspaces', 'GET /providers')
      onSaved()
    },
  })
  const set = (id: string, change: Partial<Row>) => setRows((former) => former.map((row) => (row.id === id ? { ...row, ...change } : row)))
  const cancel = () => {
    setRows(start)
    setForAll(wasForAll)
    save.reset()
  }
  const losing = rows.filter((row) => (before.get(row.id)?.enabled ?? wasForAll) && !(row.enabled ?? isForAll))
  return { rows, set, isForAll, setForAll, save, cancel, losing, count: changed.length + (isForAll === wasForAll ? 0 : 1) }
}

function AccessList(props: AccessListProps) {
  const { account, scope } = props
  const { rows, set, isForAll, setForAll, save, cancel, losing, count } = useAccess(props)
  const [text, setText] = useState('')
  const [limited, setLimited] = useState<string | null>(null)
  const mayChange = may(scope, rightOn(account, 'update'))
  const shown = rows.filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(text.toLowerCase()))
  const open = rows.find(({ id }) => id === limited)
  return (
    <>
      {!mayChange && <p className="hint">{texts.needs(rightOn(account, 'update'))}</p>}
      <Switch
        label="All workspaces may use it, those to come too"
        disabled={!mayChange}
        checked={isForAll}
        onChange={(event) => setForAll(event.currentTarget.checked)}
      />
      <SearchBox text={text} onChange={setText} />
      {shown.length === 0 ? (
        <State title={text === '' ? texts.noWorkspaces[0] : 'Nothing matches.'}>
          <p>{text === '' ? texts.noWorkspaces[1] : 'No workspace has this in its name.'}</p>
        </State>
      ) : (
        <DataGrid
          label="Workspaces"
          columns={columnsOf({ mayChange, isForAll, set, limit: setLimited })}
          rows={shown}
          idOf={({ id }) => id}
          rowHeight={44}
        />
      )}
      {losing.length > 0 && (
        <p role="status" className="chip warn fault">
          Lose access within a second: <span className="text-of-data">{losing.map(({ name }) => name).join(', ')}</span>
        </p>
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
      {open !== undefined && <Limits row={open} onChange={(change) => set(open.id, change)} onClose={() => setLimited(null)} />}
    </>
  )
}

interface ColumnActions {
  readonly mayChange: boolean
  readonly isForAll: boolean
  readonly set: (id: string, change: Partial<Row>) => void
  readonly limit: (id: string) => void
}

const columnsOf = ({ mayChange, isForAll, set, limit }: ColumnActions): readonly Column<Row>[] => [
  {
    id: 'access',
    label: 'Access',
    width: 80,
    cell: ({ id, slug, enabled }) => (
      <Checkbox
        aria-label={`Access of ${slug}`}
        disabled={!mayChange}
        checked={enabled ?? isForAll}
        onChange={(event) => set(id, { enabled: event.currentTarget.checked })}
      />
    ),
  },
  { id: 'name', label: 'Workspace', width: 240, cell: ({ name }) => name },
  { id: 'slug', label: 'Slug', width: 180, cell: ({ slug }) => slug },
  { id: 'by', label: 'Decided', width: 130, cell: ({ enabled }) => (enabled === null ? 'as for all' : 'for itself') },
  { id: 'limits', label: 'Limits', width: 260, cell: limitsOf },
  {
    id: 'actions',
    label: 'Actions',
    width: 120,
    cell: ({ id, slug }) =>
      mayChange && (
        <Button variant="default" aria-label={`Limits of ${slug}`} onClick={() => limit(id)}>
          Limits
        </Button>
      ),
  },
]

const units: Readonly<Record<string, string>> = { cost: 'US dollars', tokens: 'tokens', requests: 'requests' }

function limitsOf({ budget, rates }: Row): string {
  const amount = budget.limit === '' ? [] : [`${budget.limit} ${units[budget.type] ?? budget.type}`]
  return [...amount, ...rates.map((rate) => rateWords({ ...rate, value: Number(rate.value) }))].join(', ') || 'none here'
}

interface LimitsProps {
  readonly row: Row
  readonly onChange: (change: Partial<Row>) => void
  readonly onClose: () => void
}

/** The budget and the one rate of a workspace at an account. */
const Limits = ({ row, onChange, onClose }: LimitsProps) => (
  <Modal opened onClose={onClose} title={`Limits of ${row.name}`} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
    <Faulty error={null} labels={{ ...budgetLabels, rate_limits: 'Rates' }}>
      <div className="stack">
        <BudgetFields budget={row.budget} onChange={(change) => onChange({ budget: { ...row.budget, ...change } })} />
        <RatesField rates={row.rates} most={1} units={['rpm', 'rph', 'rpd']} onChange={(rates) => onChange({ rates })} />
        <div className="row">
          <Button onClick={onClose}>Done</Button>
          <span className="hint">Nothing is stored before you press Save below the list.</span>
        </div>
      </div>
    </Faulty>
  </Modal>
)
