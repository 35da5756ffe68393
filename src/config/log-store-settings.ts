import { logStores, sseTypes } from './choices.ts'
import { choice, integer, onOff, secret, text } from './kinds.ts'
import { publicUrl } from './network.ts'
import { optional, setting } from './setting.ts'

/** The place where bodies of logs are kept, and the credentials for it. */
export const logStoreSettings = {
  LOG_STORE: setting(choice(logStores), 'none', {
    desc: 'Where bodies and headers of request logs are kept: `none` in the database, `local` in a folder, else in a bucket or container. Figures stay in the database.',
    example: 's3',
  }),
  LOG_STORE_GENERATIONS_BUCKET: optional(text(255), {
    desc: 'The bucket of `s3`, `s3_assume`, `s3_custom`, `gcs` and `gcs_assume`.',
    example: 'gatehouse-logs',
  }),
  LOG_STORE_REGION: optional(text(64), {
    desc: 'The region of the bucket. Default: `us-east-1`, and `auto` for `gcs`.',
    example: 'eu-central-1',
  }),
  LOG_STORE_ACCESS_KEY: optional(secret, {
    desc: 'The access key of `s3`, `s3_custom` and `gcs` (there: of an HMAC key). Without it the identity of the workload signs in.',
    example: 'AKIA…',
    secret: true,
  }),
  LOG_STORE_SECRET_KEY: optional(secret, { desc: 'The secret of that access key.', example: 'a long random secret', secret: true }),
  LOG_STORE_BASEPATH: optional(publicUrl, {
    desc: 'The address of an S3-compatible server for `s3_custom`. For another store it takes the place of the public address. A host in a private network must be in `TRUSTED_CUSTOM_HOSTS`.',
    example: 'https://minio.example.com',
  }),
  LOG_STORE_AWS_ROLE_ARN: optional(text(2048), {
    desc: 'The role that `s3_assume` takes on.',
    example: 'arn:aws:iam::123456789012:role/gatehouse-logs',
  }),
  LOG_STORE_AWS_EXTERNAL_ID: optional(text(1224), { desc: 'The external id that the role demands.', example: 'gatehouse' }),
  LOG_STORE_LOCAL_PATH: optional(text(4096), { desc: 'The folder of `local`, such as a mounted share.', example: '/mnt/logs' }),
  LOG_STORE_FILE_PATH_FORMAT: setting(choice(['v1', 'v2'] as const), 'v2', {
    desc: 'The key of an object: `v1` is `days/organisation/log.json`, `v2` has the workspace and the hour between.',
    example: 'v1',
  }),
  LOG_STORE_CONNECTION_TIMEOUT_MS: setting(integer(100, 600_000), '15000', {
    desc: 'The longest time, in milliseconds, that one object may take.',
    example: '5000',
  }),
  LOG_STORE_CONNECTION_BACKOFF_MS: setting(integer(100, 3_600_000), '60000', {
    desc: 'The longest wait, in milliseconds, before a log store that fails is tried again. The first waits are shorter.',
    example: '30000',
  }),
  LOG_STORE_CONNECTION_FAILURE_THRESHOLD: setting(integer(1, 100), '5', {
    desc: 'From so many failures in a row on, each wait is `LOG_STORE_CONNECTION_BACKOFF_MS` long. Before, it is a second, and twice as long each time.',
    example: '3',
  }),
  LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: setting(onOff, 'ON', {
    desc: 'With `ON`, each object is sent with its MD5 digest, which a bucket with a lock on its objects demands. `OFF` is for stores that refuse the digest.',
    example: 'OFF',
  }),
  SSE_ENCRYPTION_TYPE: optional(choice(sseTypes), { desc: 'The encryption that S3 is asked for.', example: 'aws:kms' }),
  KMS_KEY_ID: optional(text(2048), {
    desc: 'The key of AWS KMS for `aws:kms` and `aws:kms:dsse`. Default: the key of the bucket.',
    example: 'arn:aws:kms:eu-central-1:123456789012:key/0f1e2d3c',
  }),
  KMS_BUCKET_KEY_ENABLED: setting(onOff, 'OFF', { desc: 'With `ON`, S3 uses a bucket key, which asks AWS KMS less often.', example: 'ON' }),
  AWS_ROLE_ARN: optional(text(2048), {
    desc: 'The role of the workload for `AWS_WEB_IDENTITY_TOKEN_FILE`. Amazon EKS sets both.',
    example: 'arn:aws:iam::123456789012:role/gatehouse',
  }),
  AWS_WEB_IDENTITY_TOKEN_FILE: optional(text(4096), {
    desc: 'The file with the token of the workload, by which it signs in to AWS.',
    example: '/var/run/secrets/eks.amazonaws.com/serviceaccount/token',
  }),
  AZURE_STORAGE_ACCOUNT: optional(text(24), { desc: 'The storage account of `azure`.', example: 'gatehouselogs' }),
  AZURE_STORAGE_CONTAINER: optional(text(63), { desc: 'The container of `azure`.', example: 'logs' }),
  AZURE_STORAGE_KEY: optional(secret, {
    desc: 'The key of the storage account, for the mode `default`.',
    example: 'a long base64 text',
    secret: true,
  }),
  AZURE_AUTH_MODE: setting(choice(['default', 'entra', 'workload', 'managed'] as const), 'default', {
    desc: 'How `azure` signs in: with the key of the account, as an Entra application with a secret, with the token in `AZURE_FEDERATED_TOKEN_FILE`, or as the managed identity of the machine.',
    example: 'workload',
  }),
  AZURE_ENTRA_TENANT_ID: optional(text(255), {
    desc: 'The tenant of the Entra application.',
    example: '8a0f6a7e-0000-4000-8000-000000000000',
  }),
  AZURE_ENTRA_CLIENT_ID: optional(text(255), { desc: 'The id of the Entra application.', example: '2b1c3d4e-0000-4000-8000-000000000000' }),
  AZURE_ENTRA_CLIENT_SECRET: optional(secret, {
    desc: 'The secret of the Entra application.',
    example: 'a long random secret',
    secret: true,
  }),
  AZURE_FEDERATED_TOKEN_FILE: optional(text(4096), {
    desc: 'The file with the token of the workload, by which it signs in to Entra. Azure Kubernetes Service sets it.',
    example: '/var/run/secrets/azure/tokens/azure-identity-token',
  }),
  GCP_AUTH_MODE: setting(choice(['default', 'workload'] as const), 'default', {
    desc: 'How `gcs` and `gcs_assume` sign in: `default` with an HMAC key, and by workload identity federation; `workload` with the token that the metadata server of GKE or Compute Engine gives the service account.',
    example: 'workload',
  }),
  GCP_WIF_AUDIENCE: optional(text(1024), {
    desc: 'The provider of the workload identity pool for `gcs_assume`, and for integrations with `vertex_auth_type: workload` that name none.',
    example: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/aws',
    since: '1.12.0',
  }),
  GCP_WIF_SERVICE_ACCOUNT_EMAIL: optional(text(320), {
    desc: 'The service account that is acted as there. Default: the federated identity itself.',
    example: 'logs@project.iam.gserviceaccount.com',
    since: '1.12.0',
  }),
}
