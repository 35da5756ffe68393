{{/* A value of the chart as the text of an environment variable; empty: not given. Takes the root and a row of files/settings.json. */}}
{{- define "app.value" -}}
{{- $value := (index . 0).Values -}}
{{- range (index . 1).path -}}
{{-   if kindIs "map" $value }}{{ $value = get $value . }}{{ else }}{{ $value = "" }}{{ end -}}
{{- end -}}
{{- if kindIs "bool" $value -}}
{{-   ternary "ON" "OFF" $value -}}
{{- else if kindIs "slice" $value -}}
{{-   join "," $value -}}
{{- else if kindIs "string" $value -}}
{{-   $value | default (index . 1).otherwise | default "" -}}
{{- else if kindIs "invalid" $value -}}
{{-   (index . 1).otherwise | default "" -}}
{{- else -}}
{{-   toJson $value -}}
{{- end -}}
{{- end }}

{{/* What one setting has. Takes the root, the setting's name, and what the image has when nothing is given. */}}
{{- define "app.setting" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $found := "" -}}
{{- range $root.Files.Get "files/settings.json" | fromJsonArray -}}
{{-   if eq .env $name }}{{ $found = include "app.value" (list $root .) }}{{ end -}}
{{- end -}}
{{- $found | default (index . 2) -}}
{{- end }}

{{/* Where probes and Prometheus ask: the name of a port of the containers. */}}
{{- define "app.probePort" -}}
{{- if include "app.setting" (list . "MANAGEMENT_PORT" "") }}management{{ else }}{{ include "app.portName" . }}{{ end -}}
{{- end }}

{{/* The name of the port that callers use. */}}
{{- define "app.portName" -}}
{{- if (.Values.tls).existingSecret }}https{{ else }}http{{ end -}}
{{- end }}

{{/* The certificates that the chart mounts: the settings that name them, each with its Secret and key. As JSON. */}}
{{- define "app.certificates" -}}
{{- $ssl := (.Values.database).ssl | default dict -}}{{- $tls := .Values.tls | default dict -}}
{{- $all := list -}}
{{- range $row := list (list "DB_SSL_CA" $ssl "caKey" "") (list "DB_SSL_CERT" $ssl "certKey" "") (list "DB_SSL_KEY" $ssl "keyKey" "") (list "TLS_CA" $tls "caKey" "") (list "TLS_CERT" $tls "certKey" "tls.crt") (list "TLS_KEY" $tls "keyKey" "tls.key") -}}
{{-   $from := index $row 1 -}}{{- $key := get $from (index $row 2) | default (index $row 3) -}}
{{-   if and $from.existingSecret $key -}}
{{-     $all = append $all (dict "env" (index $row 0) "secret" $from.existingSecret "key" $key) -}}
{{-   end -}}
{{- end -}}
{{- dict "list" $all | toJson -}}
{{- end }}

{{- define "app.port" -}}{{ include "app.setting" (list . "PORT" "8787") }}{{- end }}
{{- define "app.dataDir" -}}{{ include "app.setting" (list . "DATA_DIR" "") }}{{- end }}
{{- define "app.spoolMi" -}}{{ include "app.setting" (list . "LOG_SPOOL_MAX_MB" "1024") | float64 | ceil | int64 }}{{- end }}

{{/* A duration such as 620s, in milliseconds. */}}
{{- define "app.ms" -}}
{{- $unit := regexFind "[a-z]+$" . | default "ms" -}}
{{- mulf (regexFind "^[0-9.]+" .) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) $unit) | ceil | int64 -}}
{{- end }}

{{/* An amount of storage such as 2Gi, in Mi. */}}
{{- define "app.mi" -}}
{{- mul (regexFind "^[0-9]+" .) (get (dict "Mi" 1 "Gi" 1024 "Ti" 1048576) (regexFind "[A-Z].*$" .)) -}}
{{- end }}

{{/* How long a pod needs to end: the grace of requests, and 20 s to flush log records and close what is open. */}}
{{- define "app.neededGrace" -}}
{{- $ms := include "app.setting" (list . "TERMINATION_GRACE" "620s") | include "app.ms" -}}
{{- add (divf $ms 1000 | ceil | int64) 20 -}}
{{- end }}

{{/*
The environment of a container. Settings stand in the pod itself and not in a ConfigMap: so a change rolls the pods, a rollback
brings the old values back, and a hook that runs before the upgrade has the new ones. Takes a dict of root, roles and reason.
*/}}
{{- define "app.env" -}}
{{- $root := .root -}}
{{- $keys := ($root.Values.secrets).keys | default dict -}}
{{- $files := ($root.Values.secrets).files | default dict -}}
{{- $secret := ($root.Values.secrets).existingSecret -}}
- name: DEPLOYMENT_CHART
  value: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | toJson }}
- name: DEPLOYMENT_IMAGE
  value: {{ include "app.image" $root | toJson }}
{{- with .reason }}
- name: DEPLOYMENT_REASON
  value: {{ toJson . }}
{{- end }}
{{- with .roles }}
- name: ROLES
  value: {{ join "," . | toJson }}
{{- end }}
{{- range $root.Files.Get "files/settings.json" | fromJsonArray }}
{{-   if .path }}
{{-     $row := . }}
{{-     with include "app.value" (list $root $row) }}
- name: {{ $row.env }}
  value: {{ . | toJson }}
{{-     end }}
{{-   else if and .secretKey (get $files .secretKey) }}
- name: {{ .env }}_FILE
  value: {{ get $files .secretKey | toJson }}
{{-   else if and .secretKey $secret (get $keys .secretKey) }}
- name: {{ .env }}_FILE
  value: /etc/gatehouse/secrets/{{ .env }}
{{-   end }}
{{- end }}
{{- with ($root.Values.database).passwordFile }}
- name: DB_PASS_FILE
  value: {{ toJson . }}
{{- end }}
{{- if ($root.Values.database).existingSecret }}
- name: DB_PASS_FILE
  value: /etc/gatehouse/secrets/DB_PASS
{{- end }}
{{- range (include "app.certificates" $root | fromJson).list }}
- name: {{ .env }}
  value: /etc/gatehouse/secrets/{{ .env }}
{{- end }}
{{- if include "app.trustedCA" $root }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/gatehouse/trusted-ca.pem
{{- end }}
{{- with $root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The source of the trusted authorities for a projected volume; empty: there is none. */}}
{{- define "app.trustedCA" -}}
{{- $ca := (.Values.global).trustedCA | default dict -}}
{{- if or $ca.configMap $ca.secret -}}
{{ ternary "configMap" "secret" (not (empty $ca.configMap)) }}:
  name: {{ $ca.configMap | default $ca.secret }}
  items:
    - key: {{ $ca.key | default "ca.crt" }}
      path: trusted-ca.pem
{{- end -}}
{{- end }}

{{/* What is mounted at /etc/gatehouse, as the sources of one projected volume; empty: nothing. */}}
{{- define "app.mounted" -}}
{{- $database := .Values.database | default dict -}}
{{- $keys := (.Values.secrets).keys | default dict -}}
{{- $files := (.Values.secrets).files | default dict -}}
{{- $items := list -}}
{{- range .Files.Get "files/settings.json" | fromJsonArray -}}
{{-   if and .secretKey (get $keys .secretKey) (not (get $files .secretKey)) -}}
{{-     $items = append $items (dict "key" (get $keys .secretKey) "path" (printf "secrets/%s" .env)) -}}
{{-   end -}}
{{- end -}}
{{- if and (.Values.secrets).existingSecret $items }}
- secret:
    name: {{ .Values.secrets.existingSecret }}
    items: {{- toYaml $items | nindent 6 }}
{{- end }}
{{- with $database.existingSecret }}
- secret:
    name: {{ . }}
    items:
      - key: {{ $database.passwordKey | default "password" }}
        path: secrets/DB_PASS
{{- end }}
{{- range (include "app.certificates" . | fromJson).list }}
- secret:
    name: {{ .secret }}
    items:
      - key: {{ .key }}
        path: secrets/{{ .env }}
{{- end }}
{{- with include "app.trustedCA" . }}
- {{ . | nindent 2 | trim }}
{{- end }}
{{- end }}
