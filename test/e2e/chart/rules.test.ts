import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { ciValues, helmTest, objects, oneOf, scratch } from '../../support/helm.ts'
import { promtool, promtoolTest } from '../../support/promtool.ts'

const rulesTest = helmTest === test ? promtoolTest : helmTest

rulesTest('promtool accepts every alert of the chart', async (t) => {
  const { spec } = oneOf(await objects('4', { values: ciValues('full-values.yaml') }), 'PrometheusRule')
  const file = path.join(scratch, 'rules.json')
  await writeFile(file, JSON.stringify(spec))
  const { code, output } = await promtool(['check', 'rules', file])
  t.is(code, 0, output)
  t.true(output.includes(`SUCCESS: ${spec.groups.flatMap(({ rules }) => rules).length} rules found`), output)
})

/** The value of the alert of spend after so long. */
const after = (time: string, alerts: readonly object[]) => ({ eval_time: time, alertname: 'GatehouseSpendHigh', exp_alerts: alerts })
/** Values of a counter that rises by so much each minute, for three hours. */
const rising = (dollars: number): string => `0+${dollars}x180`

rulesTest(
  'GatehouseSpendHigh tells that requests cost more than so many dollars an hour, of all providers and pods together',
  async (t) => {
    const { spec } = oneOf(await objects('4', { values: ciValues('full-values.yaml') }), 'PrometheusRule')
    const rule = spec.groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === 'GatehouseSpendHigh')
    const [, labels = ''] = /gateway_cost_usd_total\{([^}]*)\}/.exec(rule?.expr ?? '') ?? []
    t.regex(rule?.expr ?? '', / > 50$/)
    const spent = (perMinute: readonly number[]) =>
      perMinute.map((dollars, at) => ({
        series: `gateway_cost_usd_total{${labels},provider="${at % 2 === 0 ? 'openai' : 'anthropic'}",pod="gatehouse-${at}"}`,
        values: rising(dollars),
      }))
    const elsewhere = { series: 'gateway_cost_usd_total{namespace="other",job="other",provider="openai"}', values: rising(100) }
    const fires = {
      exp_labels: { severity: 'warning', team: 'platform' },
      exp_annotations: { summary: 'Requests cost more than expected.', description: 'Providers charge 60.00 US dollars an hour.' },
    }
    const tests = [
      // 60 dollars an hour: the last hour has more than 50 after 50 minutes, and has had for ten minutes after an hour.
      {
        interval: '1m',
        input_series: [...spent([0.5, 0.25, 0.25]), elsewhere],
        alert_rule_test: [after('45m', []), after('55m', []), after('2h', [fires])],
      },
      { interval: '1m', input_series: [...spent([0.5, 0.25]), elsewhere], alert_rule_test: [after('2h', [])] },
    ]
    await writeFile(path.join(scratch, 'spend-rules.json'), JSON.stringify(spec))
    const file = path.join(scratch, 'spend-tests.json')
    await writeFile(file, JSON.stringify({ rule_files: ['spend-rules.json'], evaluation_interval: '1m', tests }))
    const { code, output } = await promtool(['test', 'rules', file])
    t.is(code, 0, output)
  },
)
