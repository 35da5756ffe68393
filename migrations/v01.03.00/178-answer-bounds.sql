-- phase: expand
-- Deletes the oldest answers of organisations that keep more than so many bytes, and the vectors of answers that are gone. Gives the number of
-- answers that were deleted, the bytes that are left, and those of the organisation that has the most.

CREATE FUNCTION trim_answers(most bigint) RETURNS TABLE (trimmed bigint, bytes bigint, fullest bigint) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH large AS (
    SELECT organisation_id FROM cached_answers GROUP BY organisation_id HAVING sum(octet_length(answer)) > most
  ), sized AS (
    SELECT a.key, a.expires_at, a.created_at,
      sum(octet_length(a.answer)) OVER (PARTITION BY a.organisation_id ORDER BY a.created_at DESC, a.key) AS up_to
      FROM cached_answers a JOIN large USING (organisation_id)
  )
  DELETE FROM cached_answers a USING sized s
   WHERE s.up_to > most AND (a.key, a.expires_at, a.created_at) = (s.key, s.expires_at, s.created_at);
  GET DIAGNOSTICS trimmed = ROW_COUNT;
  IF to_regclass('answer_vectors') IS NOT NULL THEN
    DELETE FROM answer_vectors v
     WHERE v.expires_at <= now() OR NOT EXISTS (SELECT FROM cached_answers a WHERE a.key = v.key AND a.expires_at > now());
  END IF;
  SELECT coalesce(sum(o.size), 0), coalesce(max(o.size), 0) INTO bytes, fullest
    FROM (SELECT sum(octet_length(answer)) AS size FROM cached_answers GROUP BY organisation_id) o;
  RETURN NEXT;
END $$;
