import test from 'ava'
import { faultOf } from '../../support/doors/door.ts'
import { largestLists, longestListMs, mcpDoors } from '../../support/doors/mcp-doors.ts'

for (const { name, shapes, ...bounds } of mcpDoors)
  for (const [shape, feed] of Object.entries(shapes))
    test.serial(`${name} takes time in proportion: ${shape}`, async (t) => t.is(await faultOf(feed, bounds), null))

for (const [name, feed] of Object.entries(largestLists))
  test.serial(`the largest list of an MCP server is read in short: ${name}`, async (t) => {
    const before = process.threadCpuUsage()
    await feed()
    const { user, system } = process.threadCpuUsage(before)
    t.true((user + system) / 1000 < longestListMs, `${(user + system) / 1000} ms`)
  })
