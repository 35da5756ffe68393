import { awsDomain } from '../aws-domain.ts'

/** The fields of a credential of AWS, with their defaults. */
export const aws = {
  aws_auth_type: 'accessKey',
  aws_region: 'us-east-1',
  aws_access_key_id: '',
  aws_secret_access_key: '',
  aws_session_token: '',
  aws_role_arn: '',
  aws_external_id: '',
}

/** The domain of the partition of a region. */
export const awsMade = { aws_domain: (fields: Readonly<Record<string, string>>): string => awsDomain(fields['aws_region'] ?? '') }

/** docs.aws.amazon.com/AmazonS3: the encryption of stored objects. */
export const encryptionHeaders = {
  amz_server_side_encryption: 'x-amz-server-side-encryption',
  amz_server_side_encryption_aws_kms_key_id: 'x-amz-server-side-encryption-aws-kms-key-id',
}

/** docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html: the request headers. */
export const endpointHeaders = {
  amzn_sagemaker_custom_attributes: 'x-amzn-sagemaker-custom-attributes',
  amzn_sagemaker_target_model: 'x-amzn-sagemaker-target-model',
  amzn_sagemaker_target_variant: 'x-amzn-sagemaker-target-variant',
  amzn_sagemaker_target_container_hostname: 'x-amzn-sagemaker-target-container-hostname',
  amzn_sagemaker_inference_id: 'x-amzn-sagemaker-inference-id',
  amzn_sagemaker_enable_explanations: 'x-amzn-sagemaker-enable-explanations',
  amzn_sagemaker_inference_component: 'x-amzn-sagemaker-inference-component',
  amzn_sagemaker_session_id: 'x-amzn-sagemaker-session-id',
}

/** Returns fields that may be absent, for headers that are sent of them. */
export const optional = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, '']))
