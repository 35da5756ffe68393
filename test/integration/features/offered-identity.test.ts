import test from 'ava'
import { type MetadataServices, startMetadataServices } from '../../support/metadata-services.ts'
import { type FakeAws, startFakeAws } from '../../support/secret-managers.ts'
import { type Control, startControl } from './setup.ts'

/** The organisations of an installation that may use the identity of the process. */
let metadata: MetadataServices
let aws: FakeAws

test.before(async () => {
  ;[metadata, aws] = await Promise.all([startMetadataServices(), startFakeAws()])
  aws.know(metadata.awsKeys)
  aws.put('team', { text: 'a secret of the first organisation' })
})
test.after.always(() => Promise.all([metadata?.stop(), aws?.stop()]))

const reference = {
  manager_type: 'aws_sm',
  auth_config: { aws_auth_type: 'serviceRole', aws_region: 'eu-west-1' },
  secret_path: 'team',
}

/** The outcomes of reading the secret for the first organisation, and for one that was made later. */
async function readByBoth(setting: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const endpoints = { AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url, AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url }
  const control = await startControl({}, { ...endpoints, ...setting })
  try {
    const { adminKey } = await control.createTenant('later')
    const first = control.started.provisioned?.adminApiKey ?? ''
    return [await read(control, first), await read(control, adminKey)]
  } finally {
    await control.close()
  }
}

async function read(control: Control, key: string): Promise<unknown> {
  const { body, text } = await control.call(key, 'POST', '/secret-references/test', reference)
  if (body['steps'] === undefined) throw new Error(text)
  const [, secret] = body['steps'] as readonly { readonly status: string; readonly code: string | null }[]
  return secret?.code ?? secret?.status
}

for (const [title, setting, expected] of [
  ['the first one, unless the operator says more', {}, ['passed', 'forbidden']],
  ['all, where the operator says so', { CLOUD_IDENTITY_ORGANISATIONS: 'all' }, ['passed', 'passed']],
  ['those that the operator names', { CLOUD_IDENTITY_ORGANISATIONS: '0198f3a2-0000-7000-8000-000000000000' }, ['forbidden', 'forbidden']],
  ['none', { CLOUD_IDENTITIES: 'OFF' }, ['forbidden', 'forbidden']],
] as const)
  test.serial(`the identity of the process is offered to ${title}`, async (t) => {
    t.deepEqual(await readByBoth(setting), expected)
  })
