import { duration, formed, type Kind, list, onOff, secret, text, fault, quoted } from './kinds.ts'
import { metadataAddress, publicUrl, trustedHost } from './network.ts'
import { optional, setting } from './setting.ts'

const organisation: Kind<string> = {
  name: 'organisation',
  schema: formed(String.raw`first|all|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`),
  parse: (input) =>
    /^(?:first|all|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i.test(input)
      ? input.toLowerCase()
      : fault(`${quoted(input)} is neither "first" nor "all" nor the id of an organisation`),
}

/** The identity that the platform gives to the workload. Most names are those that AWS, Azure and Google give their own tools. */
export const identitySettings = {
  CLOUD_IDENTITIES: setting(onOff, 'ON', {
    desc: "Whether integrations, virtual keys and secret references may sign in with the identity of the workload itself (`aws_auth_type: serviceRole`, `azure_auth_mode: managed` or `workload`, `vertex_auth_type: workload`, Vault's `kubernetes` and `jwt`). Every caller that may store an integration can then use the rights of this identity. `OFF`: only the log store may.",
    example: 'OFF',
  }),
  CLOUD_IDENTITY_ORGANISATIONS: setting(list(organisation), 'first', {
    desc: 'The organisations that may sign in with it: `first`, ids, or `all`. An installation that serves several organisations shares its rights in the cloud with those that are named here.',
    example: 'first, 0198f3a2-0000-7000-8000-000000000000',
  }),
  CLOUD_IDENTITY_HOSTS: setting(list(trustedHost), '', {
    desc: 'Hosts to which a proof of the identity of the workload may be sent, beside those of the clouds themselves: private addresses of their services, and each Vault that signs in by the token of the service account. Names, `*.suffix`, addresses or CIDRs, with or without a port.',
    example: 'vault.vault.svc:8200',
  }),
  KUBERNETES_TOKEN_FILE: setting(text(4096), '/var/run/secrets/kubernetes.io/serviceaccount/token', {
    desc: 'The file with the token of the service account, by which Vault signs in with `kubernetes` and `jwt`. A projected token with an audience of its own is safer than the default one.',
    example: '/var/run/secrets/vault/token',
  }),
  AWS_REGION: optional(text(64), { desc: 'The region where no other is given.', example: 'eu-central-1' }),
  AWS_ACCESS_KEY_ID: optional(text(128), { desc: 'The access key of the workload. Roles need none.', example: 'AKIA…' }),
  AWS_SECRET_ACCESS_KEY: optional(secret, { desc: 'The secret of that access key.', example: 'a long random secret', secret: true }),
  AWS_SESSION_TOKEN: optional(secret, {
    desc: 'The session token of that access key, if it is a temporary one.',
    example: 'a long text',
    secret: true,
  }),
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: optional(text(2048), {
    desc: 'The path at which Amazon ECS gives the credentials of the task. ECS sets it.',
    example: '/v2/credentials/0198…',
  }),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: optional(metadataAddress, {
    desc: 'The address at which EKS Pod Identity gives the credentials of the pod. EKS sets it. Only link-local and loopback addresses are taken.',
    example: 'http://169.254.170.23/v1/credentials',
  }),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: optional(text(4096), {
    desc: 'The file with the token that this address asks for, which the platform keeps fresh. EKS sets it.',
    example: '/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token',
  }),
  AWS_EC2_METADATA_DISABLED: setting(onOff, 'OFF', {
    desc: 'Whether the instance is not asked for credentials. It is asked last, by the second version of its protocol only.',
    example: 'true',
  }),
  AWS_EC2_METADATA_SERVICE_ENDPOINT: setting(metadataAddress, '169.254.169.254', {
    desc: 'The address of the metadata service of the instance. Only link-local and loopback addresses are taken.',
    example: '[fd00:ec2::254]',
  }),
  AWS_ENDPOINT_URL_STS: optional(publicUrl, {
    desc: 'The address of AWS STS in place of the public one, as of an interface endpoint without private DNS. A host in a private network must be in `TRUSTED_CUSTOM_HOSTS`.',
    example: 'https://vpce-0198.sts.eu-central-1.vpce.amazonaws.com',
  }),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: optional(publicUrl, {
    desc: 'The same for AWS Secrets Manager.',
    example: 'https://vpce-0198.secretsmanager.eu-central-1.vpce.amazonaws.com',
  }),
  AWS_ASSUME_ROLE_ACCESS_KEY_ID: optional(text(128), {
    desc: 'The access key that takes on the roles of integrations with `aws_auth_type: assumedRole` and no key of their own. Default: the identity of the workload.',
    example: 'AKIA…',
  }),
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: optional(secret, {
    desc: 'The secret of that access key.',
    example: 'a long random secret',
    secret: true,
  }),
  AWS_ASSUME_ROLE_REGION: optional(text(64), {
    desc: 'The region in which the role of `AWS_ASSUME_ROLE_SOURCE_ARN` is taken on.',
    example: 'us-east-1',
  }),
  AWS_ASSUME_ROLE_SOURCE_ARN: optional(text(2048), {
    desc: 'A role that this access key takes on first; the roles of integrations are then taken on by it.',
    example: 'arn:aws:iam::123456789012:role/gatehouse',
  }),
  AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: optional(text(1224), { desc: 'The external id that this first role demands.', example: 'gatehouse' }),
  AZURE_AUTHORITY_HOST: optional(publicUrl, {
    desc: 'The address of Microsoft Entra. Sovereign clouds have others; Azure Kubernetes Service sets it. Default: that of the public cloud.',
    example: 'https://login.microsoftonline.us',
  }),
  AZURE_TENANT_ID: optional(text(255), {
    desc: 'The tenant of the workload identity. Azure Kubernetes Service sets it.',
    example: '0f0e1d2c-0000-4000-8000-000000000000',
  }),
  AZURE_CLIENT_ID: optional(text(255), {
    desc: 'The application of the workload identity. Azure Kubernetes Service sets it.',
    example: '2b1c3d4e-0000-4000-8000-000000000000',
  }),
  AZURE_MANAGED_CLIENT_ID: optional(text(255), {
    desc: 'The client id of the user-assigned identity that `managed` uses. Default: the one that the machine has.',
    example: '2b1c3d4e-0000-4000-8000-000000000000',
  }),
  AZURE_POD_IDENTITY_AUTHORITY_HOST: setting(metadataAddress, '169.254.169.254', {
    desc: 'The address of the metadata service of the virtual machine. Only link-local and loopback addresses are taken.',
    example: '169.254.169.254',
  }),
  IDENTITY_ENDPOINT: optional(metadataAddress, {
    desc: 'The address at which App Service and Container Apps give tokens. Azure sets it. Only link-local and loopback addresses are taken.',
    example: 'http://127.0.0.1:41741/msi/token/',
  }),
  IDENTITY_HEADER: optional(secret, { desc: 'The secret that this address demands. Azure sets it.', example: 'a long text', secret: true }),
  GCE_METADATA_HOST: setting(metadataAddress, '169.254.169.254', {
    desc: "The address of Google's metadata server. Only link-local and loopback addresses are taken.",
    example: '169.254.169.254',
  }),
  GCP_WIF_TOKEN_FILE: optional(text(4096), {
    desc: 'The token of the workload that workload identity federation exchanges at Google. Default: `GCP_WIF_TOKEN_URL`, else the identity at AWS.',
    example: '/var/run/secrets/google/token',
    since: '1.10.0',
  }),
  GCP_WIF_TOKEN_URL: optional(publicUrl, {
    desc: 'An address that gives this token, as text or as JSON with `access_token`, `id_token` or `value`. A host in a private network must be in `TRUSTED_CUSTOM_HOSTS`.',
    example: 'https://issuer.example.com/token',
    since: '1.10.0',
  }),
  SECRET_CACHE_TTL: setting(duration(1000), '5m', {
    desc: 'How long a secret of an external manager is believed. It is asked for again before that, beside the requests that use it, and at once when a provider refuses it.',
    example: '1m',
    since: '1.12.0',
  }),
  SECRET_MAX_STALE: setting(duration(0), '1h', {
    desc: 'How long after that the last good value still serves while its manager is away or refuses. Then requests get 503 `secret_unavailable`.',
    example: '24h',
    since: '1.12.0',
  }),
  SECRET_MANAGER_TIMEOUT: setting(duration(100), '5s', {
    desc: 'The longest wait for a secret manager, sign-in included.',
    example: '2s',
    since: '1.12.0',
  }),
}
