{{/* What the pods that serve, migrate and test have in common. Takes a dict of root and own, the values that come before those of all pods. */}}
{{- define "app.podSettings" -}}
{{- $root := .root -}}{{- $own := .own | default dict -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with ($root.Values.global).imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ if kindIs "map" . }}{{ .name }}{{ else }}{{ . }}{{ end }}
{{- end }}
{{- end }}
{{- with $own.podSecurityContext | default $root.Values.podSecurityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $name := list "runtimeClassName" "schedulerName" "dnsPolicy" }}
{{- with get $root.Values $name }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
{{- range $name := list "dnsConfig" "hostAliases" }}
{{- with get $root.Values $name }}
{{ $name }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $own.priorityClassName | default $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Where a pod runs that serves nothing: where its own values say, else where the server does. Takes the root and those values. */}}
{{- define "app.placement" -}}
{{- $server := (index . 0).Values.server | default dict -}}{{- $own := index . 1 | default dict -}}
{{- range $name := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $own $name | default (get $server $name) }}
{{ $name }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* The container but for its probes. Takes a dict of root, name, args, resources, roles, securityContext, and the reason for what the guards refuse. */}}
{{- define "app.container" -}}
{{- $root := .root -}}
name: {{ .name }}
image: {{ include "app.image" $root | quote }}
imagePullPolicy: {{ ($root.Values.image).pullPolicy | default "IfNotPresent" }}
{{- with .command }}
command: {{ toJson . }}
{{- end }}
args: {{ toJson .args }}
env: {{- include "app.env" . | nindent 2 }}
{{- with $root.Values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .securityContext | default $root.Values.securityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
terminationMessagePolicy: FallbackToLogsOnError
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

{{/* The volumes. Takes a dict of root, claim, an existing claim for the data volume, and dataMi, its size else; 0: it is claimed by a template. */}}
{{- define "app.volumes" -}}
{{- $root := .root -}}
{{- if .claim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ .claim }}
{{- else if .dataMi }}
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
    {{- with merge (dict) ($migrations.podLabels | default dict) ($root.Values.commonLabels | default dict) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (dict) ($migrations.podAnnotations | default dict) ($root.Values.podAnnotations | default dict) }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ .account }}
  {{- include "app.podSettings" (dict "root" $root "own" $migrations) | nindent 2 }}
  {{- with include "app.placement" (list $root $migrations) | trim }}
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
