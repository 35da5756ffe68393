{{/* The name that all objects begin with: short enough for every suffix, and no two releases share it. */}}
{{- define "app.fullname" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name | replace "." "-" -}}
{{- if gt (len $name) 35 -}}
{{- printf "%s-%s" ($name | trunc 26 | trimSuffix "-") ($name | sha256sum | trunc 8) -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end }}

{{/* What selects all pods of this Helm release. These labels never change. */}}
{{- define "app.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "gatehouse" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The labels of every object. */}}
{{- define "app.labels" -}}
{{- include "app.labelsWith" (list . nil) -}}
{{- end }}

{{/* The same with others, which come before common ones, and those before the chart's own. Takes the root and the others. */}}
{{- define "app.labelsWith" -}}
{{- $root := index . 0 -}}{{- $lines := list -}}
{{- $given := merge (dict) (index . 1 | default dict) ($root.Values.commonLabels | default dict) -}}
{{- range include "app.ownLabels" $root | splitList "\n" -}}
{{-   if not (hasKey $given (splitList ": " . | first)) }}{{ $lines = append $lines . }}{{ end -}}
{{- end -}}
{{- with $given }}{{ $lines = append $lines (toYaml .) }}{{ end -}}
{{- join "\n" $lines -}}
{{- end }}

{{- define "app.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "app.selector" . }}
app.kubernetes.io/version: {{ include "app.tag" . | trunc 63 | trimAll "-._" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "app.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end }}

{{/* What stands in the metadata of every object beside its name and labels. Takes the root, and annotations that come before common ones. */}}
{{- define "app.meta" -}}
{{- $root := index . 0 -}}
{{- with $root.Values.namespaceOverride }}
namespace: {{ . }}
{{- end }}
{{- with merge (dict) (index . 1 | default dict) ($root.Values.commonAnnotations | default dict) }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "app.serviceAccount" -}}
{{- $account := .Values.serviceAccount | default dict -}}
{{- if $account.name -}}
{{- $account.name -}}
{{- else -}}
{{- ternary (include "app.fullname" .) "default" ($account.create | default false) -}}
{{- end -}}
{{- end }}

{{- define "app.tag" -}}
{{- (.Values.image).tag | default .Chart.AppVersion -}}
{{- end }}

{{/* The release that the tag names, such as 1.12.0; empty when the tag names none. */}}
{{- define "app.release" -}}
{{- include "app.tag" . | regexFind "^v?[0-9]+\\.[0-9]+\\.[0-9]+" | trimPrefix "v" -}}
{{- end }}

{{/* The release that was installed last; empty: none is known. */}}
{{- define "app.installed" -}}
{{- $state := lookup "v1" "Secret" (include "app.namespace" .) (printf "%s-state" (include "app.fullname" .)) | default dict -}}
{{- ($state.data).release | default "" | b64dec -}}
{{- end }}

{{/* [registry/][namespace/]name:tag[@digest] */}}
{{- define "app.image" -}}
{{- $image := .Values.image | default dict -}}
{{- $registry := (.Values.global).imageRegistry | default $image.registry | default "" | trimSuffix "/" -}}
{{- compact (list $registry $image.namespace ($image.name | default "gatehouse")) | join "/" -}}
:{{ include "app.tag" . }}
{{- with $image.digest }}@{{ . }}{{ end }}
{{- end }}
