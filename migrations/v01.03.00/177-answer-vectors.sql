-- phase: expand
-- Vectors of the texts to which cached answers were given. Their table needs the extension pgvector, which not every server has: the process
-- makes it, with prepare_answer_vectors, when a config first asks for answers to similar requests. Nothing here needs the extension.

-- Gives the schema of the extension; null: there is none, or one that is older than 0.8, which cannot search within a partition.
CREATE FUNCTION vector_schema() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT n.nspname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
   WHERE e.extname = 'vector' AND string_to_array(substring(e.extversion FROM '^\d+\.\d+'), '.')::int[] >= '{0,8}'
$$;

CREATE FUNCTION use_vectors() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('search_path', current_setting('search_path') || ', ' || quote_ident(vector_schema()), true);
END $$;

-- Makes the extension and the table where that is possible: ready, missing (the server lacks the extension), old, or forbidden (its
-- administrator must make it). A table for another number of dimensions is replaced: what it holds is of another model.
CREATE FUNCTION prepare_answer_vectors(dimensions integer) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse:answer-vectors', 0));
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN RETURN 'missing'; END IF;
    BEGIN
      CREATE EXTENSION vector;
    EXCEPTION WHEN insufficient_privilege THEN
      RETURN 'forbidden';
    END;
  END IF;
  IF vector_schema() IS NULL THEN RETURN 'old'; END IF;
  PERFORM use_vectors();
  IF (SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass('answer_vectors') AND attname = 'embedding') IS DISTINCT FROM dimensions THEN
    DROP TABLE IF EXISTS answer_vectors;
    EXECUTE format('CREATE UNLOGGED TABLE answer_vectors (
      key text PRIMARY KEY,
      organisation_id uuid NOT NULL,
      workspace_id uuid,
      namespace text NOT NULL,
      partition text NOT NULL,
      expires_at timestamptz NOT NULL,
      embedding halfvec(%s) NOT NULL)', dimensions);
    ALTER TABLE answer_vectors ALTER COLUMN embedding SET STORAGE PLAIN;
    CREATE INDEX answer_vectors_partition ON answer_vectors (partition);
    CREATE INDEX answer_vectors_owner ON answer_vectors (organisation_id, workspace_id, namespace);
    CREATE INDEX answer_vectors_nearest ON answer_vectors USING hnsw (embedding halfvec_cosine_ops);
    ALTER TABLE answer_vectors ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON answer_vectors USING (organisation_id = app_organisation() OR app_is_system()) WITH CHECK (organisation_id = app_organisation() OR app_is_system());
  END IF;
  RETURN 'ready';
END $$;

-- Keeps a vector, unless its organisation purged answers after the request began; see keep_answer.
CREATE FUNCTION keep_answer_vector(answer_key text, organisation uuid, workspace uuid, answer_namespace text, answer_partition text,
  asked_ms_ago double precision, kept_ms double precision, vector_text text) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gatehouse:answers:' || organisation, 0));
  IF EXISTS (SELECT FROM cache_purges p WHERE p.id = organisation AND p.purged_at >= clock_timestamp() - asked_ms_ago * interval '1 millisecond') THEN
    RETURN;
  END IF;
  PERFORM use_vectors();
  INSERT INTO answer_vectors (key, organisation_id, workspace_id, namespace, partition, expires_at, embedding)
    VALUES (answer_key, organisation, workspace, answer_namespace, answer_partition, now() + kept_ms * interval '1 millisecond', vector_text::halfvec)
    ON CONFLICT (key) DO UPDATE SET partition = excluded.partition, expires_at = excluded.expires_at, embedding = excluded.embedding;
END $$;

-- The nearest answers of a partition, from a cosine on. A small partition is sorted; in a large one the index is walked until it has enough.
-- Which of the two is better depends on the partition, so each search is planned for its own.
CREATE FUNCTION nearest_answers(organisation uuid, answer_partition text, vector_text text, threshold double precision)
  RETURNS TABLE (key text, cosine double precision) LANGUAGE plpgsql SET search_path FROM CURRENT SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  PERFORM use_vectors();
  PERFORM set_config('hnsw.iterative_scan', 'strict_order', true);
  RETURN QUERY SELECT n.key, 1 - n.distance FROM (
    SELECT v.key, v.embedding <=> vector_text::halfvec AS distance FROM answer_vectors v
     WHERE v.partition = answer_partition AND v.organisation_id = organisation AND v.expires_at > now()
     ORDER BY v.embedding <=> vector_text::halfvec LIMIT 3) n
   WHERE 1 - n.distance >= threshold - 0.0005;
END $$;
