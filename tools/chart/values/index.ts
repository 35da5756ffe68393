import { settingLeaf, settingsTree, type ChartSetting } from '../settings.ts'
import type { Leaf, Tree } from '../node.ts'
import { database } from './database.ts'
import { identity } from './image.ts'
import { metrics, network } from './network.ts'
import { operations } from './operations.ts'
import { pods, workloads } from './workloads.ts'

/** All values of the chart, in the order of values.yaml, its schema and its README. */
export function valuesTree(settings: readonly ChartSetting[]): Tree {
  const setting = (name: string): Leaf => {
    const found = settings.find((one) => one.name === name)
    if (found === undefined) throw new RangeError(`the chart has a place for ${name}, which is no setting`)
    return settingLeaf(found)
  }
  return {
    ...identity,
    ...database(setting),
    ...settingsTree(settings),
    ...workloads,
    ...pods,
    ...network,
    ...metrics,
    ...operations,
  }
}
