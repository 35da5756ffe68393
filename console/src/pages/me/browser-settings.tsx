import { NativeSelect, Switch } from '@mantine/core'
import { useSetting } from '../../shell/settings.ts'
import { useZone } from '../../shell/zone.ts'

const densities = [
  { value: 'usual', label: 'As usual: logs compact, others comfortable' },
  { value: 'compact', label: 'Compact' },
  { value: 'comfortable', label: 'Comfortable' },
]
const zones = [
  { value: 'utc', label: 'UTC' },
  { value: 'local', label: 'Local' },
]

/** How the console looks and listens in this browser. */
export function BrowserSettings() {
  const [density, setDensity] = useSetting('density')
  const [shortcuts, setShortcuts] = useSetting('shortcuts')
  const [zone, setZone] = useZone()
  return (
    <section className="stack form" aria-label="This browser">
      <h2>This browser</h2>
      <NativeSelect
        label="Rows of tables"
        value={density}
        data={densities}
        onChange={({ currentTarget: { value } }) => setDensity(value === 'compact' || value === 'comfortable' ? value : 'usual')}
      />
      <NativeSelect
        label="Times of logs"
        description="Budgets, resets, days and months are in UTC"
        value={zone}
        data={zones}
        onChange={(event) => setZone(event.currentTarget.value === 'local' ? 'local' : 'utc')}
      />
      <Switch
        label="Keyboard shortcuts"
        description="? lists them"
        checked={shortcuts === 'on'}
        onChange={(event) => setShortcuts(event.currentTarget.checked ? 'on' : 'off')}
      />
    </section>
  )
}
