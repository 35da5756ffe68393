import test from 'ava'
import { loadConfig, settingNames, settings } from '../../../src/config/index.ts'

const canary = 'cnry0123456789'
/** Values that are wrong for most settings, with a login that no fault may quote. */
const logins = [
  `https://user:${canary}@h.example:99999/x`,
  `https://${canary}@h.example`,
  `user:${canary}@h.example`,
  `http://user:p@${canary}@h:1/`,
]
const needed = { DB_HOST: 'db', DB_USER: 'u', DB_NAME: 'n', ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }

function faultOf(name: string, value: string): string | null {
  try {
    loadConfig({ ...needed, [name]: value })
    return null
  } catch (error) {
    return error instanceof Error ? `${error.message} ${JSON.stringify(error)}` : String(error)
  }
}

test('no fault of a setting quotes the login of a URL, and none of a secret setting quotes a part of its value', (t) => {
  let faults = 0
  for (const name of settingNames)
    for (const value of settings[name].secret ? [...logins, canary, `{"d":"${canary}`] : logins) {
      const fault = faultOf(name, value)
      if (fault === null) continue
      faults += 1
      t.false(fault.includes(canary), `${name}: ${fault}`)
    }
  t.true(faults > 300, `${faults}`)
})
