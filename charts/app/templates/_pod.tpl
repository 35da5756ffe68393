{{/* What the pods that serve, migrate and test have in common. Takes a dict of root. */}}
{{- define "app.podSettings" -}}
{{- $root := .root -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with ($root.Values.global).imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- with $root.Values.podSecurityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Where a pod runs that serves nothing: where the server does. Takes the root. */}}
{{- define "app.placement" -}}
{{- with (.Values.server).nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (.Values.server).tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The container but for its probes. Takes a dict of root, name, args, resources, roles, and the reason for what the guards refuse. */}}
{{- define "app.container" -}}
{{- $root := .root -}}
name: {{ .name }}
image: {{ include "app.image" $root | quote }}
imagePullPolicy: {{ ($root.Values.image).pullPolicy | default "IfNotPresent" }}
args: {{ toJson .args }}
env: {{- include "app.env" . | nindent 2 }}
{{- with $root.Values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.securityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - name: data
    mountPath: {{ include "app.dataDir" $root }}
  - name: tmp
    mountPath: /tmp
{{- if include "app.mounted" $root }}
  - name: mounted
    mountPath: /etc/gatehouse
    readOnly: true
{{- end }}
{{- with $root.Values.extraVolumeMounts }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}

{{/* The volumes but for a claimed one. Takes a dict of root and dataMi, the size of the data volume; 0: it is claimed. */}}
{{- define "app.volumes" -}}
{{- $root := .root -}}
{{- if .dataMi }}
- name: data
  emptyDir:
    sizeLimit: {{ .dataMi }}Mi
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: {{ $root.Values.tmpSize | default "256Mi" }}
{{- with include "app.mounted" $root }}
- name: mounted
  projected:
    defaultMode: 0444
    sources: {{- . | trim | nindent 6 }}
{{- end }}
{{- with $root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The pod that migrates. It refers to nothing that the chart makes, since a hook runs before that is there. Takes a dict of root and account. */}}
{{- define "app.migratePod" -}}
{{- $root := .root -}}
{{- $migrations := $root.Values.migrations | default dict -}}
metadata:
  labels:
    {{- include "app.selector" $root | nindent 4 }}
    app.kubernetes.io/component: migrate
    {{- with $root.Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (dict) ($migrations.podAnnotations | default dict) ($root.Values.podAnnotations | default dict) }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ .account }}
  {{- include "app.podSettings" (dict "root" $root) | nindent 2 }}
  {{- with include "app.placement" $root | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $root.Values.extraInitContainers }}
  initContainers: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    {{- $upgrade := $root.Values.upgrade | default dict }}
    {{- $reason := compact (list $upgrade.allowSkip $upgrade.allowDowngrade) | uniq | join "; " }}
    - {{ include "app.container" (dict "root" $root "name" "migrate" "args" (list "migrate") "reason" $reason "resources" $migrations.resources) | nindent 6 | trim }}
  volumes:
    {{- include "app.volumes" (dict "root" $root "dataMi" 64) | trim | nindent 4 }}
{{- end }}
