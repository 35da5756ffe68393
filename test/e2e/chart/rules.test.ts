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
