{{/* The alerts, on metrics of src/app/metrics. */}}
{{- define "app.alerts" -}}
{{- $rule := .Values.metrics.prometheusRule -}}
{{- $of := printf "namespace=%q,job=%q" .Release.Namespace (printf "%s-metrics" (include "app.fullname" .)) -}}
{{- $spool := mul (include "app.spoolMi" .) 1048576 -}}
{{- range list
  (dict "alert" "GatehouseDown" "for" "5m" "severity" "critical"
    "expr" (printf "absent(up{%s} == 1)" $of)
    "summary" "No pod of Gatehouse answers."
    "description" "Prometheus has reached no pod for five minutes: look at the pods and their events.")
  (dict "alert" "GatehouseErrors" "for" "10m" "severity" "warning"
    "expr" (printf "sum(rate(gateway_requests_total{%s,status_class=\"5xx\"}[5m])) / sum(rate(gateway_requests_total{%s}[5m])) > %v" $of $of $rule.errorRatio)
    "summary" "Many answers are errors of a server."
    "description" "{{ $value | humanizePercentage }} of the answers have a status of 5xx, of providers or of Gatehouse itself.")
  (dict "alert" "GatehouseSlow" "for" "10m" "severity" "warning"
    "expr" (printf "histogram_quantile(0.99, sum by (le) (rate(gateway_overhead_seconds_bucket{%s}[5m]))) > %v" $of $rule.overheadSeconds)
    "summary" "Gatehouse itself slows requests down."
    "description" "One request in a hundred spends more than {{ $value | humanizeDuration }} in Gatehouse: look at its CPU, and at the database.")
  (dict "alert" "GatehouseLogsDropped" "for" "0m" "severity" "critical"
    "expr" (printf "sum by (pod) (increase(gateway_log_spool_dropped_total{%s}[10m])) > 0" $of)
    "summary" "Log records are lost."
    "description" "{{ $labels.pod }} dropped log records, since they may take no more disk: see LOG_SPOOL_MAX_MB, and whether the database answers.")
  (dict "alert" "GatehouseLogsWaiting" "for" "10m" "severity" "warning"
    "expr" (printf "gateway_log_spool_bytes{%s} > %d" $of (div $spool 2))
    "summary" "Log records wait for the database."
    "description" "{{ $labels.pod }} keeps {{ $value | humanize1024 }}B of log records that PostgreSQL has not taken, more than half of what it may keep.")
  (dict "alert" "GatehouseMigrationsPending" "for" "15m" "severity" "warning"
    "expr" (printf "max(gateway_migrations_pending{%s}) > 0" $of)
    "summary" "The schema is older than the image."
    "description" "Pods wait for {{ $value }} migrations: look at the Job that migrates.")
  (dict "alert" "GatehouseDatabasePoolShort" "for" "10m" "severity" "warning"
    "expr" (printf "gateway_db_pool_waiting{%s} > 0" $of)
    "summary" "Requests wait for a database connection."
    "description" "{{ $labels.pod }} has had requests without a connection for ten minutes: see DB_POOL_SIZE, and whether the database is slow.")
  (dict "alert" "GatehouseJobFails" "for" "0m" "severity" "warning"
    "expr" (printf "sum by (job_name) (label_replace(increase(gateway_job_runs_total{%s,outcome=\"failed\"}[1h]), \"job_name\", \"$1\", \"exported_job\", \"(.*)\")) >= %v" $of $rule.jobFailures)
    "summary" "A background job fails."
    "description" "The job {{ $labels.job_name }} failed {{ $value }} times in an hour: its log says why.")
  (dict "alert" "GatehouseLimitsAway" "for" "2m" "severity" "critical"
    "expr" (printf "gateway_limits_away{%s} > 0" $of)
    "summary" "Limits cannot be counted."
    "description" "{{ $labels.pod }} does not reach the counters of limits in PostgreSQL: see LIMITS_WHEN_UNAVAILABLE for what happens to requests meanwhile.")
  (dict "alert" "GatehousePricesOld" "for" "1h" "severity" "warning"
    "expr" (printf "sum by (kind, layer) (gateway_price_lists_failing{%s}) > 0" $of)
    "summary" "Price lists cannot be read."
    "description" "{{ $value }} lists ({{ $labels.kind }}, {{ $labels.layer }}) could not be read for an hour: requests are priced by the last good ones, and costs may be wrong.")
  (dict "alert" "GatehousePriceListsDiffer" "for" "75m" "severity" "warning"
    "expr" (printf "count by (kind, layer, provider) (count by (kind, layer, provider, digest) (gateway_price_list_info{%s})) > 1" $of)
    "summary" "Processes hold different price lists."
    "description" "The lists of {{ $labels.provider }} ({{ $labels.kind }}, {{ $labels.layer }}) are of {{ $value }} versions for longer than a list is kept: the same request costs one thing here and another there. `gatehouse doctor` with the `--url` of each pod tells which holds which.")
  (dict "alert" "GatehouseUsageInconsistent" "for" "1h" "severity" "warning"
    "expr" (printf "sum by (provider) (rate(gateway_usage_inconsistent_total{%s}[1h])) / sum by (provider) (rate(gateway_requests_total{%s}[1h])) > 0.01" $of $of)
    "summary" "A provider tells usage that contradicts itself."
    "description" "{{ $value | humanizePercentage }} of the answers of {{ $labels.provider }} have counts that do not add up: it may count in a new way, and costs may be wrong. `GET /v1/logs/{id}/cost` shows its usage objects.")
  (dict "alert" "GatehouseLogStoreFails" "for" "15m" "severity" "warning"
    "expr" (printf "max(gateway_log_store_failing{%s}) > 0" $of)
    "summary" "The log store takes no objects."
    "description" "Bodies of logs have waited in the database for 15 minutes: the log of the server tells why the log store refuses them. None is lost.")
  (dict "alert" "GatehouseLogStoreBehind" "for" "30m" "severity" "warning"
    "expr" (printf "max(gateway_log_store_waiting{%s}) > 10000 and max(delta(gateway_log_store_waiting{%s}[15m])) > 0" $of $of)
    "summary" "More and more bodies of logs wait for the log store."
    "description" "{{ $value }} logs wait, and they become more: the log store is slower than the requests, and the database keeps the bodies.")
  (dict "alert" "GatehouseExportsFail" "for" "30m" "severity" "warning"
    "expr" (printf "max(gateway_exports_retrying{%s}) > 0" $of)
    "summary" "Exports do not go on."
    "description" "{{ $value }} exports could not make their next part for half an hour: each tells its error in `GET /v1/logs/exports`.")
  (dict "alert" "GatehouseSpendHigh" "for" "10m" "severity" "warning" "off" (not $rule.dollarsPerHour)
    "expr" (printf "sum(rate(gateway_cost_usd_total{%s}[1h])) * 3600 > %v" $of $rule.dollarsPerHour)
    "summary" "Requests cost more than expected."
    "description" "Providers charge {{ $value | printf \"%.2f\" }} US dollars an hour.")
}}
{{- if not (or .off (has .alert ($rule.disabledAlerts | default list))) }}
- alert: {{ .alert }}
  expr: {{ .expr | toJson }}
  for: {{ get . "for" }}
  labels:
    severity: {{ .severity }}
    {{- with $rule.alertLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    summary: {{ .summary | toJson }}
    description: {{ .description | toJson }}
{{- end }}
{{- end }}
{{- end }}
