import { helmTest, objects, oneOf, podsOf, template, withValues } from '../../support/helm.ts'

type Values = Readonly<Record<string, unknown>>

const render = (values: Values) => objects('4', { values: withValues(values) })
const tcp = (...ports: readonly number[]) => ports.map((port) => ({ port, protocol: 'TCP' }))
const block = (at: string, ...ports: readonly number[]) => ({ to: [{ ipBlock: { cidr: at } }], ports: tcp(...ports) })

helmTest('the network policy is for every pod, and opens the ports that the pods have', async (t) => {
  const own: readonly Values[] = [
    { gateway: { enabled: true } },
    { settings: { managementPort: 9090 } },
    { tls: { existingSecret: 'gatehouse-tls' } },
    { tls: { existingSecret: 'gatehouse-tls' }, settings: { managementPort: 9090, port: 9443 } },
  ]
  for (const values of own) {
    const list = await render({ ...values, networkPolicy: { enabled: true } })
    const { spec } = oneOf(list, 'NetworkPolicy')
    const pods = podsOf(list)
    t.true(pods.length >= 3)
    for (const { of, labels } of pods) t.like(labels, spec?.podSelector?.matchLabels ?? { none: '' }, of)
    const served = new Set(pods.flatMap(({ container }) => (container.ports ?? []).map(({ name }) => name)))
    t.deepEqual(new Set(spec?.ingress?.flatMap(({ ports }) => (ports ?? []).map((one) => one.port))), served, JSON.stringify(values))
    t.deepEqual(spec?.policyTypes, ['Ingress'])
  }
})

helmTest('the preset airGap lets pods reach DNS, the database and the providers, and nothing else', async (t) => {
  const database = [{ ipBlock: { cidr: '10.1.0.7/32' } }]
  const providers = [{ cidr: '10.2.0.0/16', except: ['10.2.9.0/24'], ports: [443, 11_434] }, { cidr: 'fd00:2::/64' }]
  const policy = { enabled: true, preset: 'airGap', database, providers }
  const egressOf = async (more: Values) =>
    oneOf(await render({ database: { port: 6432 }, networkPolicy: { ...policy, ...more } }), 'NetworkPolicy').spec?.egress
  const reached = [
    { to: database, ports: tcp(6432) },
    { to: [{ ipBlock: { cidr: '10.2.0.0/16', except: ['10.2.9.0/24'] } }], ports: tcp(443, 11_434) },
    { to: [{ ipBlock: { cidr: 'fd00:2::/64' } }], ports: tcp(443) },
  ]
  const dns = [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol })))
  const kubeDns = { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }
  t.deepEqual(await egressOf({}), [{ to: [kubeDns], ports: dns }, ...reached])
  t.deepEqual(await egressOf({ dns: [] }), reached)
  const mail = { to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'mail' } } }], ports: tcp(587) }
  t.deepEqual(await egressOf({ dns: [], extraEgress: [mail] }), [...reached, mail])
})

helmTest('the presets of sign-in, secrets and identities open what each needs, and nothing else', async (t) => {
  const database = [{ ipBlock: { cidr: '10.1.0.7/32' } }]
  const opened = async (more: Values) => {
    const values = { networkPolicy: { enabled: true, preset: 'airGap', dns: [], database, ...more } }
    const [first, ...others] = oneOf(await render(values), 'NetworkPolicy').spec?.egress ?? []
    t.deepEqual(first?.to, database)
    return others
  }
  const login = { cidr: '10.3.0.4/32' }
  const vault = { kind: 'hashicorpVault', cidr: '10.4.0.0/24' }
  const cases: readonly (readonly [Values, unknown])[] = [
    [{ identityProviders: [login, { cidr: '10.3.1.0/24', ports: [8443] }] }, [block('10.3.0.4/32', 443), block('10.3.1.0/24', 8443)]],
    [
      {
        secretManagers: [
          vault,
          { ...vault, ports: [443] },
          { kind: 'azureKeyVault', cidr: '10.5.0.0/24' },
          { kind: 'awsSecretsManager', cidr: '10.6.0.0/24' },
        ],
      },
      [block('10.4.0.0/24', 8200), block('10.4.0.0/24', 443), block('10.5.0.0/24', 443), block('10.6.0.0/24', 443)],
    ],
    [{ cloudIdentities: ['aws'] }, [block('169.254.169.254/32', 80)]],
    [{ cloudIdentities: ['awsContainers', 'eksPodIdentity'] }, [block('169.254.170.2/32', 80), block('169.254.170.23/32', 80)]],
    [{ cloudIdentities: ['azure'] }, [block('169.254.169.254/32', 80)]],
    [{ cloudIdentities: ['google'] }, [block('169.254.169.254/32', 80), block('169.254.169.252/32', 988)]],
    [{}, []],
  ]
  for (const [values, expected] of cases) t.deepEqual(await opened(values), expected, JSON.stringify(values))
  const open = await render({ networkPolicy: { enabled: true, identityProviders: [login] } })
  t.is(oneOf(open, 'NetworkPolicy').spec?.egress, undefined)
})

helmTest('a network policy that is misspelt, or names no peer, is refused', async (t) => {
  const wrong: readonly Values[] = [
    { preset: 'closed' },
    { from: [{}] },
    { from: [{ podSelectr: { matchLabels: { app: 'ingress' } } }] },
    { database: [{ ipBlock: { cidr: 'db.example' } }] },
    { dns: [{ ipBlock: { except: ['10.0.0.0/8'] } }] },
    { providers: [{ ports: [443] }] },
    { providers: [{ cidr: '10.2.0.0' }] },
    { providers: [{ cidr: '10.2.0.0/16', ports: ['https'] }] },
    { providers: [{ cidr: '10.2.0.0/16', ports: [0] }] },
    { identityProviders: [{ cidr: 'login.example' }] },
    { secretManagers: [{ cidr: '10.4.0.0/24' }] },
    { secretManagers: [{ kind: 'vault', cidr: '10.4.0.0/24' }] },
    { cloudIdentities: ['imds'] },
  ]
  for (const values of wrong) {
    const { code, stderr } = await template('3', { values: withValues({ networkPolicy: { enabled: true, ...values } }) })
    t.not(code, 0, JSON.stringify(values))
    t.regex(stderr, new RegExp(`networkPolicy\\.${Object.keys(values)[0]}`), stderr)
  }
})
